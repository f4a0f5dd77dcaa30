//! The detector, beside a naive twin: a few of its rules, each run over every sentence.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use framegate_guard::detect::{Looking, scan};
use regex::RegexSet;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let naive = naive();
    let mut group = criterion.benchmark_group("detect");
    group.sample_size(10);
    for (name, text) in texts() {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("scan", name), |b| {
            b.iter(|| scan(black_box(&text), Looking::Output))
        });
        group.bench_function(BenchmarkId::new("naive", name), |b| {
            b.iter(|| black_box(&text).split(". ").filter(|sentence| naive.is_match(sentence)).count());
        });
    }
    group.finish();
    criterion.final_summary();
}

/// Five of some hundred and fifty rules.
fn naive() -> RegexSet {
    let rules = [
        r"(?i)\b(ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(rules?|instructions?|guidelines?|prompts?)\b",
        r"(?i)^\W*(system|assistant|admin|developer)\s*:",
        r"(?i)\b(please|kindly)\W+(send|forward|transfer|pay|delete)\b",
        r"(?i)\byour (answer|response|reply)\b",
        r"(?i)\byou (must|should|have to) (\w+ ){0,2}(pay|send|transfer|delete)\b",
    ];
    RegexSet::new(rules).expect("the bench's own expressions")
}

/// A mebibyte of each, and eight of prose: the result that a call may have to wait for.
fn texts() -> Vec<(&'static str, String)> {
    let fill = |bytes: usize, piece: &str| piece.repeat(bytes / piece.len() + 1);
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap_or(0)
    };
    let words = [
        "ignore",
        "rules",
        "instructions",
        "please",
        "send",
        "system",
        "you",
        "must",
        "your",
        "answer",
        "assistant",
        "delete",
        "file",
        "my",
        "password",
        "the",
        "user",
        "task",
        "before",
        "forget",
        "reply",
        "with",
        "new",
        "email",
    ];
    let triggers: String =
        (0..180_000).map(|_| format!("{} ", words.get(next(24)).copied().unwrap_or(""))).collect();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let blob: String =
        (0..1 << 20).map(|_| alphabet.get(next(64)).map_or('A', |byte| char::from(*byte))).collect();
    let prose =
        "The museum of the town opens at nine in the morning, and most of its rooms are shown until five. ";
    let record = r#"{"id":7042,"name":"a short name","tags":["x","y"],"note":"arrived in the second week"},"#;
    let log = "2026-11-30T12:04:31.123Z INFO worker[17] handled GET /api/v1/items/17 in 12ms status=200\n";
    vec![
        ("prose", fill(1 << 20, prose)),
        ("prose_8_mib", fill(8 << 20, prose)),
        ("records", fill(1 << 20, record)),
        ("log", fill(1 << 20, log)),
        ("base64", blob),
        ("trigger_words", triggers),
        ("colons", ":".repeat(1 << 20)),
    ]
}
