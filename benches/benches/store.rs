//! The record: an append alone and in batches, with and without waiting for the disk; verification; sizes.
//!
//! How an append behaves as the store grows: `examples/store_grow.rs`.

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use framegate_guard::store::chain::{Hash, link};
use framegate_guard::store::checkpoint::Checkpointer;
use framegate_guard::store::spelling::Body;
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::store::verify::{NoWatch, Options};
use framegate_guard::world::Instant;

#[path = "store/entries.rs"]
mod entries;

const TIME: Instant = Instant(1_700_000_000_000_000);
/// Why nothing here fails.
const WORKS: &str = "a store in a temporary folder works";
/// Calls of the store that is verified.
const CALLS: u64 = 10_000;

fn append_calls(store: &mut Store, count: u64) {
    let mut step = store.begin().expect(WORKS);
    for _ in 0..count {
        let number = step.head().sequence;
        step.append(&entries::call(number), TIME).expect(WORKS);
    }
    step.commit().expect(WORKS);
}

fn append(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect(WORKS);
    let mut group = criterion.benchmark_group("append");
    for (name, durability) in [("normal", Durability::Normal), ("full", Durability::Full)] {
        for batch in [1, 64] {
            let path = folder.path().join(format!("{name}{batch}.db"));
            let mut store = Store::open(&path, durability, entries::entropy).expect(WORKS);
            let mut checkpointer = Checkpointer::open(&path).expect(WORKS);
            group.throughput(Throughput::Elements(batch));
            group.bench_function(format!("{name}, {batch} a commit"), |bencher| {
                bencher.iter_batched(
                    // Not part of an append: a session has a thread for it.
                    || checkpointer.run_once().expect(WORKS),
                    |_| append_calls(&mut store, batch),
                    BatchSize::NumIterations(100),
                );
            });
        }
    }
}

fn fill(path: &Path) {
    let mut store = Store::open(path, Durability::Normal, entries::entropy).expect(WORKS);
    let mut step = store.begin().expect(WORKS);
    for number in 0..CALLS {
        let call = step.append(&entries::call(number), TIME).expect(WORKS);
        step.append(&entries::end(number, call), TIME).expect(WORKS);
    }
    step.commit().expect(WORKS);
}

fn verify(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect(WORKS);
    let path = folder.path().join("record.db");
    fill(&path);
    let bytes = std::fs::metadata(&path).expect(WORKS).len();
    println!("a trivial call, its answer and their contents: {} bytes of file", bytes / CALLS);
    let reader = Store::open_read(&path).expect(WORKS);
    let mut group = criterion.benchmark_group("verify");
    group.sample_size(10).throughput(Throughput::Elements(2 * CALLS));
    group.bench_function("records", |bencher| {
        bencher.iter(|| assert!(reader.verify(Options::default(), &mut NoWatch).expect(WORKS).is_whole()));
    });
    let body = entries::call(1).body(1_000_000, TIME.0, &[[1; 16], [2; 16]]);
    println!("body of a trivial call: {} bytes", body.len());
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("spelling of a body", |bencher| {
        bencher.iter(|| Body::read(black_box(&body)).is_ok())
    });
    group.bench_function("link", |bencher| bencher.iter(|| link(&Hash::default(), black_box(&body))));
    group.bench_function("last 100", |bencher| bencher.iter(|| reader.last(100).expect(WORKS)));
}

criterion_group!(store, append, verify);
criterion_main!(store);
