//! How long a decision takes: `cargo test --release -p framegate-guard --test all decide_speed -- --ignored --nocapture`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the data is the test's own")]
#![expect(clippy::print_stdout, reason = "a measurement is there to be read")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::Snapshot;
use framegate_guard::policy::Policy;
use framegate_guard::proposal::CallKey;
use framegate_guard::session::Session;
use framegate_guard::world::{self, Unknown, World};
use framegate_guard::{Call, Facts, Guard, Outcome};

/// A file system without links.
struct Plain;

impl World for Plain {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<world::Instant, Unknown> {
        Ok(world::Instant(0))
    }
}

const CONDITIONS: [&str; 5] = [
    "within(args.path, \"/work\")",
    "!contains_any(texts, lists.secret)",
    "args.size <= facts.limit",
    "facts.role == \"admin\" || args.mode != \"raw\"",
    "args.tags.all(tag, tag.size() < 40)",
];

const SCHEMA: &str = r#"{"name":"write_file","inputSchema":{"type":"object","properties":{
    "path":{"type":"string","minLength":1},"text":{"type":"string"},"size":{"type":"integer","minimum":0},
    "mode":{"enum":["text","raw"]},"tags":{"type":"array","items":{"type":"string"}}},
    "required":["path","text"],"additionalProperties":false}}"#;

fn guard(rules: usize) -> Guard {
    let mut text = "framegate: 1\nfacts: { role: { type: string, default: viewer }, limit: { type: number, default: 5000 } }\nlists: { secret: [\"/.ssh\", \"/.env\", id_rsa, .pem, .aws/] }\ntools: { write_file: {} }\n".to_owned();
    text.push_str(if rules == 0 { "" } else { "rules:\n" });
    for n in 0..rules {
        let that = CONDITIONS[n % CONDITIONS.len()];
        writeln!(text, "  - {{ name: rule_{n}, tools: [write_file], because: B., that: '{that}' }}").unwrap();
    }
    let policy = Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let facts = Facts::new(&policy, &std::collections::BTreeMap::new()).unwrap();
    let listing = [("write_file".to_owned(), Ok(Document::read(SCHEMA.into(), &Limits::default()).unwrap()))];
    let (guard, warnings) = Guard::new(policy, "s", facts).adopt(listing);
    assert!(warnings.is_empty(), "{warnings:?}");
    guard
}

/// The best of many rounds: other programs run beside this one.
fn time(name: &str, mut run: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..200 {
        let start = Instant::now();
        (0..50).for_each(|_| run());
        best = best.min(start.elapsed() / 50);
    }
    println!("{name:<28}{:>9.2} µs", best.as_secs_f64() * 1e6);
    best
}

#[test]
#[ignore = "a measurement: in release, by hand"]
fn a_decision_takes_microseconds() {
    let text = "lorem ipsum dolor sit amet ".repeat(32);
    let call = format!(
        r#"{{"path":"/work/src/main.rs","text":"{text}","size":864,"mode":"text","tags":["a","bc","def"]}}"#
    );
    let document = Document::read(call.clone().into(), &Limits::default()).unwrap();
    let session = Session::default();
    println!("call of {} bytes", call.len());
    time("read", || drop(black_box(Document::read(call.clone().into(), &Limits::default()))));
    time("key", || {
        black_box(CallKey::of("write_file", document.root()));
    });
    for (rules, limit_us) in [(0, 15), (5, 15), (50, 40)] {
        let guard = guard(rules);
        let call = Call { tool: "write_file", id: None, arguments: document.root() };
        let decide = || guard.decide(&call, &session, &Snapshot::nothing(), &Plain);
        assert_eq!(decide().outcome, Outcome::Allow, "{:?}", decide().findings);
        let took = time(&format!("{rules} rules"), || drop(black_box(decide())));
        assert!(took < Duration::from_micros(limit_us), "{rules} rules take {took:?}");
    }
}
