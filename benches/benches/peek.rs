//! Reading an envelope, five ways.
//!
//! `peek` is what the pump does, `outline` what it does where nobody reads what is inside an answer. The others are here for the record of which wins where:
//! a hand-written scan (it finds the members' borders and **checks nothing**), `serde_json` into a
//! derived struct of raw values (which also accepts an array, keeps doubles out by error and knows
//! nothing of look-alikes), and `simd-json`'s tape, which needs a copy it may write to.

use std::hint::black_box;
use std::ops::Range;

use criterion::{BenchmarkId, Criterion, Throughput};
use framegate_pump::Kind;
use framegate_pump::envelope::{outline, peek};
use serde::Deserialize;
use serde_json::value::RawValue;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    peeks(&mut criterion);
    criterion.final_summary();
}

fn peeks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("peek");
    for (name, body) in bodies() {
        assert!(matches!(peek(&body).kind, Kind::Request | Kind::Response), "{name}");
        assert!(scan(&body).is_some_and(|found| found.id.is_some()), "{name}");
        let _: Raw<'_> = raw(&body);
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function(BenchmarkId::new("peek", name), |b| b.iter(|| peek(black_box(&body))));
        if peek(&body).kind == Kind::Response {
            group.bench_function(BenchmarkId::new("outline", name), |b| b.iter(|| outline(black_box(&body))));
        }
        group.bench_function(BenchmarkId::new("hand_scan", name), |b| b.iter(|| scan(black_box(&body))));
        group.bench_function(BenchmarkId::new("serde_json_raw", name), |b| {
            b.iter(|| black_box(raw(black_box(&body))));
        });
        group.bench_function(BenchmarkId::new("simd_json_tape", name), |b| {
            let mut copy = body.clone();
            b.iter(|| {
                copy.copy_from_slice(black_box(&body));
                simd_json::to_tape(&mut copy).map(|tape| black_box(tape.0.len()))
            });
        });
    }
    group.finish();
}

fn bodies() -> [(&'static str, Vec<u8>); 4] {
    [
        ("200B", call(200)),
        ("4KiB", call(4 << 10)),
        ("1MiB_text", result(1 << 20, TEXT)),
        ("1MiB_records", result(1 << 20, RECORDS)),
    ]
}

/// A call of exactly `size` bytes.
fn call(size: usize) -> Vec<u8> {
    let open = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/work/a.txt","text":""#;
    let close = r#""}}}"#;
    [open, &"x".repeat(size - open.len() - close.len()), close].concat().into_bytes()
}

const TEXT: [&str; 3] = [
    r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":""#,
    "The quick brown fox jumps over the lazy dog. ",
    r#""}],"isError":false},"id":17}"#,
];
const RECORDS: [&str; 3] = [
    r#"{"jsonrpc":"2.0","result":{"content":[],"structuredContent":{"rows":["#,
    r#"{"id":18,"name":"row","price":12.5,"tags":["a","b"],"ok":true},"#,
    r#"null]},"isError":false},"id":17}"#,
];

/// An answer of about `size` bytes with its id last, as TypeScript peers write it.
fn result(size: usize, [open, unit, close]: [&str; 3]) -> Vec<u8> {
    [open, &unit.repeat(size / unit.len()), close].concat().into_bytes()
}

// === serde_json ===

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the reading is measured")]
struct Raw<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

fn raw(body: &[u8]) -> Raw<'_> {
    serde_json::from_slice(body).expect("the bodies above are JSON")
}

// === the hand scan ===

#[derive(Default)]
struct Scanned {
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<Range<usize>>,
}

fn scan(body: &[u8]) -> Option<Scanned> {
    let mut found = Scanned::default();
    let mut at = blanks(body, 0);
    if body.get(at) != Some(&b'{') {
        return None;
    }
    loop {
        let key = blanks(body, at + 1);
        let key_end = string(body, key)?;
        let value = blanks(body, blanks(body, key_end) + 1);
        let end = any(body, value)?;
        let place = match body.get(key..key_end)? {
            br#""error""# => Some(&mut found.error),
            br#""id""# => Some(&mut found.id),
            br#""method""# => Some(&mut found.method),
            br#""params""# => Some(&mut found.params),
            br#""result""# => Some(&mut found.result),
            _ => None,
        };
        if let Some(place) = place {
            *place = Some(value..end);
        }
        at = blanks(body, end);
        if body.get(at) != Some(&b',') {
            return (body.get(at) == Some(&b'}')).then_some(found);
        }
    }
}

fn blanks(body: &[u8], mut at: usize) -> usize {
    while matches!(body.get(at), Some(b' ' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of the string that starts at `at`.
fn string(body: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', body.get(at..)?)?;
        if body.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The end of the value that starts at `at`.
fn any(body: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match body.get(at)? {
            b'"' => at = string(body, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b',' | b'}' | b']' if depth == 0 => return Some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}
