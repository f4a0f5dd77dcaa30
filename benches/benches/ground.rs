//! What looking for a value in a conversation costs: 100 messages, 100 kB, made ready as they arrive.
//!
//! `cargo bench -p framegate-benches --bench ground`

#[path = "../../guard/tests/ground/twin.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, reason = "a module of a test where it is at home")]
mod twin;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use framegate_guard::ground::{Match, Matcher, Prepared, Sought};
use framegate_guard::json::{Document, Limits};

const MESSAGES: usize = 100;
const MESSAGE_BYTES: usize = 1000;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    prepare(&mut criterion);
    find(&mut criterion);
    naive(&mut criterion);
    criterion.final_summary();
}

/// Texts as tools give them, and what is hard about them.
fn texts() -> [(&'static str, String); 6] {
    let records = |at: usize| {
        format!(
            r#"{{"id":"INV-{at:05}","amount":{}.{:02},"to":"ann{at}@shop.example","due":"2026-{:02}-{:02}","url":"https://shop.example/i/{at}"}},"#,
            at * 37 % 9000,
            at % 100,
            at % 12 + 1,
            at % 28 + 1,
        )
    };
    [
        ("json", (0..1000).map(records).collect()),
        (
            "english",
            "The parcel goes to Zurich on the 5th of May; please tell Ann that it costs 1,250.50 EUR. "
                .repeat(1200),
        ),
        (
            "french",
            "L’été à Genève, le café coûte 4,50 € et l’addition 1 250,50 € — déjà payée. ".repeat(1200),
        ),
        ("chinese", "包裹将于五月五日寄往苏黎世。请告诉安，费用为1250.50欧元。".repeat(1300)),
        ("digits", "7 77 1 250 4111 1111 ".repeat(5000)),
        ("dots", "a.b x.io/p ".repeat(10_000)),
    ]
}

/// Pieces of a message's size.
fn messages(text: &str) -> Vec<Prepared> {
    let mut rest = text;
    let mut messages = Vec::new();
    while messages.len() < MESSAGES {
        let end = (MESSAGE_BYTES..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (message, later) = rest.split_at(end);
        messages.push(Prepared::new(message));
        rest = later;
    }
    messages
}

fn prepare(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ground_prepare");
    for (name, text) in texts() {
        let messages: Vec<String> = messages(&text).iter().map(|message| message.text().to_owned()).collect();
        let bytes: usize = messages.iter().map(String::len).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(name, |b| {
            b.iter(|| messages.iter().map(|text| Prepared::new(black_box(text))).collect::<Vec<_>>());
        });
    }
    group.finish();
}

fn value(json: &str) -> Document {
    Document::read(json.to_owned().into(), &Limits::default()).expect("a value")
}

/// A value that no message names: all of it is looked through.
fn find(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ground_find");
    for (name, text) in texts() {
        let messages = messages(&text);
        for (how, json) in [
            (Match::Token, r#""Zurichberg 9""#),
            (Match::Whole, r#""77""#),
            (Match::Nocase, r#""ann""#),
            (Match::Id, r##""#INV-999999""##),
            (Match::Spaced, "1251.5"),
            (Match::Url, r#""https://shop.example/i/x""#),
            (Match::UrlPrefix, r#""https://x.io/q""#),
            (Match::Substring, r#""ZZZ""#),
        ] {
            let value = value(json);
            group.throughput(Throughput::Bytes((MESSAGES * MESSAGE_BYTES) as u64));
            group.bench_function(BenchmarkId::new(how.to_string(), name), |b| {
                b.iter(|| {
                    let sought = Sought::new(&Matcher::from(how), black_box(value.root()));
                    messages.iter().filter(|message| sought.is_in(message)).count()
                });
            });
        }
    }
    group.finish();
}

/// One message of 1 kB, beside the twin that looks everywhere.
fn naive(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ground_naive");
    let [(_, text), ..] = texts();
    let message = messages(&text).swap_remove(0);
    for (how, json) in [(Match::Nocase, r#""ann""#), (Match::Token, "1251.5"), (Match::Url, r#""x.io/q""#)] {
        let (value, matcher) = (value(json), Matcher::from(how));
        let name = format!("{how} {json}");
        group.bench_function(BenchmarkId::new("ours", &name), |b| {
            b.iter(|| Prepared::new(black_box(message.text())).find(&matcher, value.root()));
        });
        group.bench_function(BenchmarkId::new("twin", &name), |b| {
            b.iter(|| twin::find(&matcher, black_box(message.text()), value.root()));
        });
    }
    group.finish();
}
