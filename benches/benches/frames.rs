//! How fast the cutter cuts, by frame size.
//!
//! Bytes arrive as they do from a read: into [`Cutter::spare`], at most 64 KiB at a time. The copy
//! that stands for the read is part of the figure; `copy` is that copy alone.

use std::hint::black_box;

use bytes::{BufMut, BytesMut};
use criterion::{BenchmarkId, Criterion, Throughput};
use framegate_pump::codec::{Cut, Cutter};

const READ_BYTES: usize = 64 * 1024;
const SIZES: [(&str, usize); 7] = [
    ("100B", 100),
    ("1KiB", 1 << 10),
    ("10KiB", 10 << 10),
    ("100KiB", 100 << 10),
    ("1MiB", 1 << 20),
    ("4MiB", 4 << 20),
    ("16MiB", 16 << 20),
];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    frames(&mut criterion);
    criterion.final_summary();
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frames");
    group.sample_size(20);
    for (name, size) in SIZES {
        let stream = stream(size);
        group.throughput(Throughput::Bytes(stream.len() as u64));
        group.bench_function(BenchmarkId::new("cut", name), |bencher| bencher.iter(|| cut(&stream)));
    }
    let stream = stream(100);
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("copy", |bencher| {
        let mut buffer = BytesMut::with_capacity(READ_BYTES);
        bencher.iter(|| {
            for read in stream.chunks(READ_BYTES) {
                buffer.clear();
                buffer.put_slice(read);
                black_box(&buffer);
            }
        });
    });
    group.finish();
}

/// At least 1 MiB of frames of `size` bytes, terminators included.
fn stream(size: usize) -> Vec<u8> {
    let mut frame = vec![b'x'; size];
    if let Some(last) = frame.last_mut() {
        *last = b'\n';
    }
    frame.repeat((1_usize << 20).div_ceil(size))
}

fn cut(stream: &[u8]) -> usize {
    let mut cutter = Cutter::default();
    let mut frames = 0;
    for mut read in stream.chunks(READ_BYTES) {
        while !read.is_empty() {
            let mut spare = cutter.spare();
            let (now, later) = read.split_at(spare.remaining_mut().min(read.len()));
            spare.put_slice(now);
            read = later;
            while let Some(cut) = cutter.next_cut() {
                assert!(matches!(black_box(&cut), Cut::Frame(_)));
                frames += 1;
            }
        }
    }
    frames
}
