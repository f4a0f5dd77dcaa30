//! The strict reader, beside `serde_json`'s check without values and its full `Value`.

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use framegate::pump::Frame;
use framegate::wire::{self, client_frame};
use framegate_guard::json::{Document, Limits};
use serde_json::value::RawValue;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    values(&mut criterion);
    frames(&mut criterion);
    criterion.final_summary();
}

fn values(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("strict");
    for (name, text) in texts() {
        let source = Bytes::from(text.clone());
        assert!(Document::read(source.clone(), &Limits::default()).is_ok(), "{name}");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("document", name), |b| {
            b.iter(|| Document::read(black_box(source.clone()), &Limits::default()));
        });
        group.bench_function(BenchmarkId::new("serde_json_raw", name), |b| {
            b.iter(|| serde_json::from_str::<&RawValue>(black_box(&text)).map(|raw| raw.get().len()));
        });
        group.bench_function(BenchmarkId::new("serde_json_value", name), |b| {
            b.iter(|| serde_json::from_str::<serde_json::Value>(black_box(&text)));
        });
        let document = Document::read(source.clone(), &Limits::default());
        group.bench_function(BenchmarkId::new("digest", name), |b| {
            b.iter(|| document.as_ref().map(|document| black_box(document).digest()));
        });
    }
    group.finish();
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("client_frame");
    for size in [200, 1 << 10, 64 << 10] {
        let text = "x".repeat(size - 120);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{{"name":"write_file","arguments":{{"path":"/work/a.txt","text":"{text}"}}}}}}"#
        );
        let frame = Frame::line(line.as_bytes());
        let limits = wire::Limits::default();
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_function(BenchmarkId::new("call", line.len()), |b| {
            b.iter(|| client_frame(black_box(&frame), &limits));
        });
    }
    group.finish();
}

/// A mebibyte of each.
fn texts() -> [(&'static str, String); 5] {
    let fill = |item: &str| format!("[{}]", vec![item; (1 << 20) / (item.len() + 1)].join(","));
    [
        ("long_strings", fill(&format!("\"{}\"", "The quick brown fox. ".repeat(400)))),
        ("escapes", fill(&format!("\"{}\"", r#"say \"hi\"\n\u00e9"#.repeat(20)))),
        ("non_ascii", fill(&format!("\"{}\"", "größer 漢字 🦀 ".repeat(40)))),
        ("records", fill(r#"{"id":123,"name":"a short name","tags":["x","y"],"ok":true}"#)),
        ("numbers", fill("12345.678e-3")),
    ]
}
