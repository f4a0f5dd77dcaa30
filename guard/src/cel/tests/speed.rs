//! `cargo test -p framegate-guard --release speed -- --ignored --nocapture`

use super::*;
use crate::world::Recorded;
use std::hint::black_box;
use std::time::Instant as Clock;

const ROUNDS: u32 = 200_000;

/// A call as the engine holds it: the world remembers its answers, members are looked up one by one.
struct Fast<'w> {
    arguments: Document,
    texts: Value<'static>,
    world: Recorded<'w>,
}

impl Env for Fast<'_> {
    fn variable(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "args" => Some(Value::Json(self.arguments.root())),
            "texts" => Some(self.texts.clone()),
            _ => None,
        }
    }

    fn world(&self) -> &dyn World {
        &self.world
    }
}

#[test]
#[ignore = "measures"]
fn evaluations() {
    let sample = Sample::default();
    let text: String = "lorem ipsum dolor sit amet ".repeat(36).chars().take(900).collect();
    let arguments = format!(r#"{{"path":"/work/notes.txt","n":9,"text":"{text}","id":"0123456789"}}"#);
    let arguments = Document::read(arguments.into(), &Limits::default()).unwrap();
    let texts = Value::list(arguments.strings().map(|text| Value::from(text.to_owned())));
    let bytes: usize = arguments.strings().map(str::len).sum();
    let env = Fast { arguments, texts, world: Recorded::new(&sample) };
    let needles = [
        "/.ssh",
        "/.env",
        "id_rsa",
        ".pem",
        ".aws/",
        "/etc/shadow",
        ".kube/",
        ".npmrc",
        ".netrc",
        "secrets.",
    ];
    let needles = Value::list(needles.into_iter().map(Value::from));
    let scope = scope().with_constant("lists", Value::map([("secret_paths", needles)]));
    for source in [
        "within(args.path, \"/work\")",
        "args.n + 1 <= 10",
        "!contains_any(texts, lists.secret_paths)",
        "!contains_any(args, lists.secret_paths)",
        "!contains_any_nocase(texts, lists.secret_paths)",
        "args.path.startsWith('/work') && has(args.n) && !has(args.missing)",
        "!glob(texts, ['*.pem', '*id_rsa*'])",
        "args.path in ['/a', '/b', '/work/notes.txt']",
    ] {
        let expression = Expression::compile(source, &scope).unwrap();
        let started = Clock::now();
        for _ in 0..ROUNDS {
            let value = expression.evaluate(black_box(&env), &mut Budget::default()).unwrap();
            assert_eq!(value.as_bool(), Some(true));
        }
        let each = started.elapsed() / ROUNDS;
        let started = Clock::now();
        for _ in 0..100 {
            Expression::compile(black_box(source), &scope).unwrap();
        }
        println!(
            "{each:>8.0?} {:>8.0?} to compile  {source} ({bytes} bytes of texts)",
            started.elapsed() / 100
        );
    }
}

#[test]
#[ignore = "measures"]
fn slowest_compilations() {
    let many = |part: &str, with: &str| {
        let n = SOURCE_BYTES_MAX / (part.len() + with.len());
        vec![part; n].join(with)
    };
    for source in [
        many("a", "&&"),
        many("a.b==1", "||"),
        format!("a in [{}]", many("1", ",")),
        format!("f({})", many("(a)", ",")),
        format!("f({})", many("a?a:a", ",")),
        format!("f({})", many("[[[a]]]", ",")),
        format!("f({})", many("-a", ",")),
        many("(a&&a||a)", "&&"),
        many("a a", " "),
        many("(((((((a)))))))", "||"),
        many("[1].all(x,x>0)", "&&"),
        many("{'a':{'b':1}}.a.b==1", "&&"),
    ] {
        let started = Clock::now();
        let outcome =
            Expression::compile(&source, &scope()).map_or_else(|p| p[0].message.clone(), |_| "fine".into());
        println!("{:>8.0?} {} {outcome}", started.elapsed(), source.get(..20).unwrap());
    }
}
