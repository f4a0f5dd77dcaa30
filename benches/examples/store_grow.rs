//! A store that grows: what an append costs as it does, how long the last page takes, how fast it is verified.
//!
//! `cargo run --release -p framegate-benches --example store_grow -- [RECORDS [FILE]]`

use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use framegate_guard::store::checkpoint::Checkpointer;
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::store::verify::{NoWatch, Options};

#[path = "../benches/store/entries.rs"]
mod entries;

/// Appends that are measured at each size.
const MEASURED: u64 = 20_000;
/// Records of one commit in between.
const BATCH: u64 = 1_000;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let records: u64 = arguments.next().unwrap_or("1000000".into()).parse()?;
    let folder = tempfile::tempdir()?;
    let path = arguments.next().map_or(folder.path().join("record.db"), PathBuf::from);
    let is_done = AtomicBool::new(false);
    let mut store = Store::open(&path, Durability::Normal, entries::entropy)?;
    std::thread::scope(|scope| {
        let checkpoints = scope.spawn(|| keep_small(&path, &is_done));
        let grown = grow(&mut store, records);
        is_done.store(true, Ordering::Release);
        let largest = checkpoints.join().map_err(|_| "the checkpoints panicked")??;
        println!("largest WAL: {:.1} MiB", largest as f64 / 1048576.0);
        grown
    })?;
    drop(store);
    read(&path)
}

/// Checkpoints, as a session has them; the largest WAL seen.
fn keep_small(path: &std::path::Path, is_done: &AtomicBool) -> Outcome<u64> {
    let mut checkpointer = Checkpointer::open(path)?;
    let mut largest = 0;
    while !is_done.load(Ordering::Acquire) {
        checkpointer.run_once()?;
        std::thread::sleep(Duration::from_millis(20));
        largest = checkpointer.wal_bytes().max(largest);
    }
    Ok(largest)
}

fn grow(store: &mut Store, records: u64) -> Outcome<()> {
    let mut at = 1_000;
    while at <= records {
        fill(store, at.saturating_sub(MEASURED))?;
        measure(store, at.min(MEASURED), at)?;
        at *= 10;
    }
    if at / 10 < records {
        fill(store, records - MEASURED)?;
        measure(store, MEASURED, records)?;
    }
    Ok(())
}

fn fill(store: &mut Store, to: u64) -> Outcome<()> {
    while store.head()?.sequence < to {
        let mut step = store.begin()?;
        for _ in 0..BATCH / 2 {
            let time = framegate_guard::world::Instant(1_700_000_000_000_000);
            let number = step.head().sequence;
            let call = step.append(&entries::call(number), time)?;
            step.append(&entries::end(number, call), time)?;
        }
        step.commit()?;
    }
    Ok(())
}

/// A commit for each record, as a session that waits for each has them.
fn measure(store: &mut Store, count: u64, at: u64) -> Outcome<()> {
    let mut times = Vec::new();
    let begun = Instant::now();
    for number in 0..count {
        let one = Instant::now();
        let mut step = store.begin()?;
        let entry = if number % 2 == 0 { entries::call(number) } else { entries::end(number, number) };
        step.append(&entry, framegate_guard::world::Instant(1_700_000_000_000_000))?;
        step.commit()?;
        times.push(one.elapsed());
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    times.sort_unstable();
    let part = |of: f64| times[((times.len() - 1) as f64 * of) as usize].as_secs_f64() * 1e6;
    println!(
        "at {at:>9} records: append p50 {:>5.1} µs, p99 {:>6.1} µs, p99.9 {:>7.1} µs, most {:>8.1} µs; {rate:.0}/s",
        part(0.5),
        part(0.99),
        part(0.999),
        part(1.0)
    );
    Ok(())
}

fn read(path: &std::path::Path) -> Outcome<()> {
    let bytes = std::fs::metadata(path)?.len();
    let begun = Instant::now();
    let reader = Store::open_read(path)?;
    let page = reader.last(100)?;
    let contents: usize = page.iter().map(|row| reader.contents(row.seq).map_or(0, |kept| kept.len())).sum();
    println!(
        "last page: {} records, {contents} contents: {:.1} ms",
        page.len(),
        begun.elapsed().as_secs_f64() * 1e3
    );
    let begun = Instant::now();
    let report = reader.verify(Options::default(), &mut NoWatch)?;
    let seconds = begun.elapsed().as_secs_f64();
    let count = report.counts.records;
    println!(
        "verify: {count} records, {} contents in {seconds:.1} s: {:.0} records/s; whole: {}",
        report.counts.contents,
        count as f64 / seconds,
        report.is_whole()
    );
    println!("file: {:.0} MiB, {} bytes a record", bytes as f64 / 1048576.0, bytes / count);
    Ok(())
}
