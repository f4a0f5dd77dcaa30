//! What one decision by a policy of praxiom costs: 20 rules and 10 variables on one tool. (The original adds 6 to
//! 9 ms a call, and seconds for arguments of some kilobytes.)
//!
//! `cargo bench -p framegate-benches --bench praxiom`

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use framegate_guard::json::{Document, Limits};
use framegate_guard::praxiom::{Call, Dialect, Praxiom, Verdict};

const RULES: [&str; 5] = [
    "not tainted",
    "0 < amount <= 100 and v0 + amount * 2 < 100000",
    "not matches(payload, secrets)",
    "startswith(path, '/work/') and not contains(path, '..')",
    "member(mode, ['create', 'append']) or v1 // 3 % 2 == 0",
];

fn policy(rules: usize) -> Praxiom {
    let mut text = "patterns: { secrets: ['/.ssh', '/.env', 'id_rsa', '.pem', '.aws/'] }\nstate:\n  tainted: { type: bool, \
                    init: false }\n  last: { type: str, init: '' }\n"
        .to_owned();
    for n in 0..8 {
        let _ = writeln!(text, "  v{n}: {{ type: int, init: {n} }}");
    }
    text += "invariants:\n  - { name: budget, expr: v0 <= 1000000 }\nactions:\n  - name: write\n    match: 'fs__write*'\n    args: { amount: \
             int, path: str, mode: str }\n    effect: { v0: v0 + amount, last: path, tainted: \"tainted or \
             matches(payload, secrets)\" }\n    requires:\n";
    for n in 0..rules {
        let _ = writeln!(text, "      - \"{}\"", RULES[n % RULES.len()]);
    }
    Praxiom::load("bench.yaml", text.as_bytes(), Dialect::Safe).unwrap_or_else(|why| panic!("{why}"))
}

fn arguments(bytes: usize) -> Document {
    let note = "All work and no play makes a dull proxy. ".repeat(bytes / 41);
    let text = format!(
        r#"{{"path":"/work/notes/today.md","amount":12,"mode":"append","note":"{note}","tags":["a","b"],"dry_run":false}}"#
    );
    Document::read(text.into(), &Limits::default()).unwrap_or_else(|_| Document::empty_object())
}

fn decide(c: &mut Criterion) {
    let mut group = c.benchmark_group("praxiom");
    for (rules, bytes) in [(5, 100), (20, 100), (20, 1000), (20, 1_000_000)] {
        let (policy, arguments) = (policy(rules), arguments(bytes));
        let state = policy.initial();
        let call = Call { tool: "fs__write_file", upstream: "fs", arguments: Some(arguments.root()) };
        group.throughput(Throughput::Bytes(arguments.source().len() as u64));
        group.bench_function(format!("{rules} rules, 10 variables, {bytes} bytes"), |b| {
            b.iter(|| {
                let verdict = policy.decide(black_box(&state), black_box(&call), &[]);
                assert!(matches!(verdict, Verdict::Allow(_)), "{verdict:?}");
                verdict
            });
        });
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
