//! For fuzzing: any bytes as an expression.

use super::{Budget, Env, Expression, Scope, Type, Value};
use crate::json::{Document, Limits};
use crate::world::{NoWorld, World};

struct Sample {
    arguments: Document,
}

impl Env for Sample {
    fn variable(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "args" => Some(Value::Json(self.arguments.root())),
            "facts" => Some(Value::missing("not given")),
            _ => None,
        }
    }

    fn world(&self) -> &dyn World {
        &NoWorld
    }
}

/// Compiles the bytes, if they are text, and evaluates what compiles. Neither may panic, a problem's place lies
/// in the source, and an evaluation ends within its budget.
pub fn fuzz(bytes: &[u8]) {
    const STEPS: u64 = 20_000;
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let scope = Scope::new()
        .with("args", Type::Dyn)
        .with("facts", Type::Dyn)
        .with("now", Type::Timestamp)
        .with_constant("lists", Value::map([("names", Value::list([Value::from("a"), Value::from("b")]))]));
    match Expression::compile(source, &scope) {
        Ok(expression) => {
            let text = r#"{"path":"/work/a","n":1.5,"list":[1,"a",null,{"b":true}],"big":9007199254740993}"#;
            let Ok(arguments) = Document::read(text.into(), &Limits::default()) else { return };
            let mut budget = Budget::new(STEPS);
            let sample = Sample { arguments };
            let failed = expression.evaluate(&sample, &mut budget).err();
            assert!(failed.is_none_or(|failure| source.get(failure.span).is_some()), "a failure outside");
            assert!(budget.left() <= STEPS, "steps were given back");
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a word");
            assert!(
                problems.iter().all(|problem| source.get(problem.span.clone()).is_some()),
                "a place outside"
            );
        }
    }
}
