//! What one decision costs: a call of 1 KiB, its schema, and rules.
//!
//! `cargo bench -p framegate-benches --bench decide`

use criterion::{Criterion, criterion_group, criterion_main};
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::{Ended, Ledger, MemoryLedger, SessionKey, Settled, Snapshot, Step, Stepped};
use framegate_guard::messages::Role;
use framegate_guard::policy::Policy;
use framegate_guard::session::{Preparing, Session, Window};
use framegate_guard::world::{Instant, Unknown, World};
use framegate_guard::{Call, Facts, Guard, Outcome};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

/// Answers from memory: what the disk costs is not ours to measure.
struct Still;

impl World for Still {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(Instant(1_790_000_000_000_000))
    }
}

const RULES: [&str; 5] = [
    "within(args.path, '/work')",
    "args.amount <= 100 && args.amount > 0",
    "!contains_any(texts, lists.secrets)",
    "args.mode in ['create', 'append'] || facts.role == 'admin'",
    "!has(args.note) || size(args.note) < 4000",
];

fn policy(rules: usize) -> String {
    let mut text = "framegate: 1\nfacts:\n  role: { type: string, default: viewer }\nlists:\n  secrets: ['/.ssh', '/.env', 'id_rsa', '.pem', '.aws/']\ntools:\n  write: {}\n".to_owned();
    if rules > 0 {
        text += "rules:\n";
    }
    for n in 0..rules {
        let that = RULES[n % RULES.len()];
        text += &format!("  - {{ name: r{n}, tools: [write], that: \"{that}\", because: It must. }}\n");
    }
    text
}

const TOOL: &str = r#"{"name":"write","inputSchema":{"type":"object","additionalProperties":false,"required":["path","amount"],"properties":{
"path":{"type":"string","minLength":1},"amount":{"type":"number","minimum":0},"mode":{"enum":["create","append","truncate"]},
"note":{"type":"string","maxLength":4000},"tags":{"type":"array","items":{"type":"string"},"maxItems":20},"dry_run":{"type":"boolean"}}}}"#;

fn guard(rules: usize) -> Guard {
    bound(&policy(rules))
}

fn bound(text: &str) -> Guard {
    let loaded = Policy::load("bench.yaml", text.as_bytes(), &mut |_| Err("none".to_owned()));
    let policy = loaded.unwrap_or_else(|why| panic!("{why}")).policy;
    let facts = Facts::new(&policy, &BTreeMap::new()).unwrap_or_default();
    let tool = Document::read(TOOL.into(), &Limits::default()).map_err(|why| why.to_string());
    let (guard, warnings) = Guard::new(policy, "bench", facts).adopt([("write".to_owned(), tool)]);
    assert!(warnings.is_empty(), "{warnings:?}");
    guard
}

fn frame() -> String {
    let note = "All work and no play makes a dull proxy. ".repeat(20);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"write","arguments":{{"path":"/work/notes/today.md","amount":12.50,"mode":"append","note":"{note}","tags":["a","b","c"],"dry_run":false}}}}}}"#
    )
}

fn decide(c: &mut Criterion) {
    let mut group = c.benchmark_group("decide");
    let frame = bytes::Bytes::from(frame());
    let (session, key) = (Session::default(), SessionKey { principal: "p".into(), name: "s".into() });
    for rules in [0, 5, 50] {
        let guard = guard(rules);
        let ledger = MemoryLedger::default();
        group.bench_function(format!("{rules} rules, {} bytes, read and decided", frame.len()), |b| {
            b.iter(|| {
                let read = Document::read(black_box(frame.clone()), &Limits::default());
                let read = read.unwrap_or_else(|_| Document::empty_object());
                let arguments = read.root().get("params").and_then(|params| params.get("arguments"));
                let arguments = arguments.unwrap_or(read.root());
                let receipt = ledger.step(&key, &mut |past| {
                    let call = Call { tool: "write", id: None, arguments };
                    let decision = guard.decide(&call, &session, past, &Still);
                    assert_eq!(decision.outcome, Outcome::Allow);
                    Step { decision: Arc::new(decision), is_sent: false, record: None }
                });
                receipt.and_then(Stepped::wait).map(|receipt| receipt.sequence)
            });
        });
    }
    group.finish();
}

/// 20 rules over 10 state variables, of which the call changes half.
fn stateful() -> Guard {
    let mut text = "framegate: 1\ntools: { write: { limit: 10000 per hour } }\nstate:\n".to_owned();
    for n in 0..5 {
        text += &format!("  b{n}: bool\n");
    }
    text += "  i0: int\n  i1: int\n  d: decimal\n  hosts: { type: set, max: 50, combine: union }\nrules:\n";
    for n in 0..14 {
        let (b, i) = (n % 5, n % 2);
        text += &format!(
            "  - {{ name: r{n}, tools: [write], that: '!state.b{b} || state.i{i} < 1000000 && args.amount <= 100' }}\n"
        );
    }
    for (name, set) in [
        ("i0", "i0: state.i0 + 1"),
        ("i1", "i1: state.i0"),
        ("d", "d: state.d + args.amount"),
        ("hosts", "hosts: '[args.mode]'"),
        ("b0", "b0: 'args.amount > 1000'"),
    ] {
        text += &format!("  - {{ name: set_{name}, tools: [write], set: {{ {set} }} }}\n");
    }
    bound(&text)
}

/// What the state adds: judged, computed, and reserved in the ledger.
fn state(c: &mut Criterion) {
    let guard = stateful();
    let (session, key) = (Session::default(), SessionKey { principal: "p".into(), name: "s".into() });
    let ledger = MemoryLedger::default();
    let arguments = Document::read(
        r#"{"path":"/work/notes/today.md","amount":12.50,"mode":"append"}"#.into(),
        &Limits::default(),
    );
    let arguments = arguments.unwrap_or_else(|_| Document::empty_object());
    let mut hour = 0;
    c.bench_function("decide/20 rules, 10 state variables, decided, sent and settled", |b| {
        b.iter(|| {
            hour += 1;
            let world = At(Instant(1_790_000_000_000_000 + hour * 3_600_000_000));
            let receipt = ledger.step(&key, &mut |past| {
                let call = Call { tool: "write", id: None, arguments: black_box(arguments.root()) };
                let decision = guard.decide(&call, &session, past, &world);
                assert_eq!(decision.outcome, Outcome::Allow, "{:?}", decision.findings);
                Step { decision: Arc::new(decision), is_sent: true, record: None }
            });
            let sequence = receipt.and_then(Stepped::wait).map_or(0, |receipt| receipt.sequence);
            ledger.settle(&key, sequence, &Ended::without_answer(Settled::Done))
        });
    });
}

/// A clock that says this.
struct At(Instant);

impl World for At {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(self.0)
    }
}

/// A conversation of 100 messages and 100 kB, in which the value that is looked for stands in the first one.
fn conversation() -> Session {
    let mut session = Session::new(Window { max_messages: 0, max_chars: 0 });
    session
        .push(Some(Role::User), "Please pay 1,250.50 to DE02100100100006820101 for order W-77.".to_owned());
    for n in 1..100 {
        let line = format!("{n}: the meeting about item {} moved to room {}, see page {n}. ", n * 7, n * 3);
        session.tool_output("get_notes", &line.repeat(1000 / line.len()));
    }
    session
}

/// What the checks of provenance add, and what it costs to make an output ready for them, once.
fn provenance(c: &mut Criterion) {
    let mut group = c.benchmark_group("provenance");
    let tool = r#"{"name":"write","inputSchema":{"type":"object"}}"#;
    let session = conversation();
    for (what, options) in [
        ("none", "{}"),
        (
            "ground 3, instructions grounded",
            "{ ground: { iban: { from: [user] }, amount: { locale: en }, order: id } }",
        ),
        ("instructions flow", "{ instructions: flow }"),
    ] {
        let text = format!("framegate: 1\ntools: {{ write: {options} }}\n");
        let loaded = Policy::load("bench.yaml", text.as_bytes(), &mut |_| Err("none".to_owned()));
        let policy = loaded.unwrap_or_else(|why| panic!("{why}")).policy;
        let definition = Document::read(tool.into(), &Limits::default()).map_err(|why| why.to_string());
        let guard = Guard::new(policy, "bench", Facts::default()).adopt([("write".to_owned(), definition)]).0;
        let arguments = r#"{"iban":"DE02100100100006820101","amount":1250.5,"order":"W-77"}"#;
        let arguments = Document::read(arguments.into(), &Limits::default());
        let arguments = arguments.unwrap_or_else(|_| Document::empty_object());
        session.messages().for_each(|kept| kept.prepare(guard.preparing()));
        group.bench_function(format!("100 messages of 1 kB, {what}"), |b| {
            b.iter(|| {
                let call = Call { tool: "write", id: None, arguments: black_box(arguments.root()) };
                let decision = guard.decide(&call, &session, &Snapshot::nothing(), &Still);
                assert_eq!(decision.outcome, Outcome::Allow, "{:?}", decision.findings);
            });
        });
    }
    let output =
        "The quarterly report is on the shelf; room 17 is free until noon, see page 3. ".repeat(1300);
    for (what, to) in [
        ("searched", Preparing::default()),
        ("searched and scanned", Preparing { scans: true, follows: false }),
        ("searched, scanned and followed", Preparing { scans: true, follows: true }),
    ] {
        group.bench_function(
            format!("an output of {} kB made ready to be {what}", output.len() / 1000),
            |b| {
                b.iter(|| {
                    let mut session = Session::default();
                    session.tool_output("get_notes", black_box(&output));
                    session.messages().for_each(|kept| kept.prepare(to));
                });
            },
        );
    }
    group.finish();
}

criterion_group!(benches, state, decide, provenance);
criterion_main!(benches);
