mod language;
mod limits;
mod problems;
mod speed;
mod twin;

use super::*;
use crate::json::{Document, Limits};
use crate::world::{Instant, Unknown, World};

/// One call and all that a policy may name.
struct Sample {
    arguments: Document,
    with_defaults: Document,
}

const ARGUMENTS: &str = r#"{"path":"/work/notes.txt","paths":["/work/a","/work/b/../c"],"n":9,"price":1.10,
    "big":9007199254740993,"text":"a\/b é","flag":true,"nothing_here":null,"nested":{"deep":{"x":[1,2,3]}},
    "items":[{"name":"a","n":1},{"name":"b","n":2}],"url":"https://Bank.example/pay"}"#;

const DEFAULTS: &str = r#"{"path":"/work/notes.txt","limit":10}"#;

impl Default for Sample {
    fn default() -> Sample {
        let read = |text: &'static str| Document::read(text.into(), &Limits::default()).unwrap();
        Sample { arguments: read(ARGUMENTS), with_defaults: read(DEFAULTS) }
    }
}

impl Env for Sample {
    fn variable(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "args" => Some(Value::Json(self.arguments.root())),
            "facts" => Some(Value::map([
                ("role", Value::from("admin")),
                ("rate", Value::missing("the fact `rate` was not given")),
            ])),
            "texts" => Some(Value::list(self.arguments.strings().map(Value::from))),
            "now" => Some(Value::Timestamp(Instant(1_782_892_800_000_000))),
            _ => None,
        }
    }

    fn member(&self, variable: &str, name: &str) -> Option<Value<'_>> {
        match (variable, name) {
            ("defs", "double_n") => Some(Value::from(18)),
            ("defs", "broken") => Some(Value::failed(Failure::error("division by zero"))),
            _ => None,
        }
    }

    fn world(&self) -> &dyn World {
        self
    }

    fn with_defaults<'a>(&'a self, _: Value<'a>) -> Result<Value<'a>, Failure> {
        Ok(Value::Json(self.with_defaults.root()))
    }

    fn ask_program(&self, name: &str) -> Result<bool, Failure> {
        match name {
            "office_hours" => Ok(true),
            _ => Err(Failure::unknown("it is gone")),
        }
    }
}

/// A file system with one link out of the folder: `/work/out` → `/etc`. The server stands in `/work`.
impl World for Sample {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        if path.contains("locked") {
            return Err(Unknown(format!("`{path}` cannot be looked at")));
        }
        let absolute = if path.starts_with('/') { path.to_owned() } else { format!("/work/{path}") };
        let mut parts: Vec<&str> = Vec::new();
        for part in absolute.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                "out" if parts == ["work"] => parts = vec!["etc"],
                part => parts.push(part),
            }
        }
        Ok(format!("/{}", parts.join("/")))
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(Instant(0))
    }
}

fn scope() -> Scope {
    let strings = |items: &[&'static str]| Value::list(items.iter().map(|item| Value::from(*item)));
    Scope::new()
        .with("args", Type::Dyn)
        .with("facts", Type::object([("role", Type::String), ("rate", Type::Number)]))
        .with("defs", Type::object([("double_n", Type::Number), ("broken", Type::Number)]))
        .with("texts", Type::list(Type::String))
        .with("now", Type::Timestamp)
        .with_constant(
            "lists",
            Value::map([("secret", strings(&["/.ssh", "/.env"])), ("roots", strings(&["/work"]))]),
        )
}

fn evaluate(source: &str) -> Result<Value<'static>, Failure> {
    let expression = match Expression::compile(source, &scope()) {
        Ok(expression) => expression,
        Err(problems) => panic!("`{source}`: {problems:?}"),
    };
    let sample = Sample::default();
    expression.evaluate(&sample, &mut Budget::default()).map(Value::into_static)
}

fn is_true(source: &str) {
    match evaluate(source) {
        Ok(value) => assert_eq!(value.as_bool(), Some(true), "{source}"),
        Err(failure) => panic!("`{source}`: {failure}"),
    }
}

fn is_false(source: &str) {
    assert_eq!(evaluate(source).unwrap().as_bool(), Some(false), "{source}");
}

fn fails(source: &str, message: &str) -> Failure {
    let failure = evaluate(source).expect_err(source);
    assert_eq!(failure.message, message, "{source}");
    failure
}

fn problems(source: &str) -> Vec<Problem> {
    Expression::compile(source, &scope()).expect_err(source)
}

#[test]
fn every_example_of_the_table_is_true() {
    for function in functions() {
        is_true(function.example);
        assert!(function.example.contains(function.name), "{} shows something else", function.name);
        assert!(function.signature.contains(function.name), "{}", function.name);
        assert!(!function.doc.is_empty());
    }
}

#[test]
fn names_stand_once_in_the_table() {
    let mut names: Vec<&str> = functions().map(|function| function.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
