//! Scans files N times, prints what the detector finds in them and ends: something to count instructions on, and a
//! digest that is the same as long as every finding, reading and budget is.
//!
//! ```sh
//! cargo build --release -p framegate-benches --example scan_files
//! valgrind --tool=callgrind target/release/examples/scan_files 1 README.md
//! target/release/examples/scan_files digest /usr/share/doc/*/README
//! ```
//!
//! The difference of two runs with different N, divided by the difference of N and the bytes, is what one byte costs.

use std::hint::black_box;
use std::time::Instant;

use framegate_guard::detect::{Looking, explain, scan};
use framegate_guard::store::entries::hash;

fn main() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let how = args.next().ok_or("usage: scan_files N|digest FILE...")?;
    let texts: Vec<String> = args
        .filter_map(|path| std::fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    if how == "digest" {
        digest(&texts);
        return Ok(());
    }
    let times: usize = how.parse().map_err(|_| "N is not a number")?;
    let since = Instant::now();
    for text in std::iter::repeat_n(&texts, times).flatten() {
        black_box(scan(black_box(text), Looking::Output));
    }
    let seconds = since.elapsed().as_secs_f64();
    println!("{times} times {} files, {bytes} bytes", texts.len());
    println!("{:.0} MB/s", bytes as f64 * times as f64 / seconds / 1e6);
    Ok(())
}

/// All that is found, in one line a kind of text.
fn digest(texts: &[String]) {
    for looking in [Looking::Output, Looking::User, Looking::Description] {
        let (mut all, mut passages, mut work) = (String::new(), 0, 0);
        for text in texts {
            let explained = explain(text, looking);
            passages += explained.scan.passages.len();
            work += explained.bytes_read;
            all += &format!("{:?} {:?}\n", explained.scan, explained.readings);
        }
        println!("{looking:?}: {passages} passages, {work} bytes read, {}", hash(all.as_bytes()));
    }
}
