//! Stores to test with.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use framegate_guard::store::StoreError;
use framegate_guard::store::chain::Head;
use framegate_guard::store::entry::Entry;
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::store::verify::{NoWatch, Options, Place, Report};
use framegate_guard::world::Instant;

/// Numbers that look random, and are the same in each run.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(usize::try_from(self.roll(u64::try_from(from.len()).unwrap())).unwrap()).unwrap()
    }
}

pub(crate) fn entropy(bytes: &mut [u8]) -> Result<(), StoreError> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut dice = Dice(NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bytes.fill_with(|| u8::try_from(dice.roll(256)).unwrap());
    Ok(())
}

/// A record of some kind, with contents of each sort.
pub(crate) fn entry(dice: &mut Dice) -> Entry {
    let kind = dice.pick(&["call", "end", "frame", "text"]);
    let mut entry = Entry::new(kind)
        .text("tool", dice.pick(&["read", "wr\"ite", "\u{7}böse\n\u{1f}😀", ""]))
        .number("bytes", dice.roll(1 << 40));
    if dice.roll(2) == 0 {
        let arguments = format!("{{\"n\":{}}}", dice.roll(100));
        entry = entry.content("arguments", arguments.into());
    }
    if dice.roll(3) == 0 {
        entry = entry.content("frame", Bytes::from((0..32).map(|n| 0xff - n).collect::<Vec<u8>>()));
    }
    if dice.roll(2) == 0 {
        // Few different ones, so that some are shared; some are too short for that.
        let text = dice.pick(&["long text, ", "another text, "]);
        entry = entry.shared("result", text.repeat(if dice.roll(4) == 0 { 2 } else { 40 }).into());
    }
    if dice.roll(4) == 0 {
        entry = entry.committed("edited", Bytes::from_static(b"never kept"));
    }
    entry
}

/// A store of so many records, in steps of a few.
pub(crate) fn fill(path: &Path, count: u64, dice: &mut Dice) -> Head {
    let mut store = Store::open(path, Durability::Normal, entropy).unwrap();
    let mut left = count;
    let mut head = store.head().unwrap();
    while left > 0 {
        let mut step = store.begin().unwrap();
        for _ in 0..left.min(1 + dice.roll(4)) {
            step.append(&entry(dice), Instant(i64::try_from(dice.roll(1 << 50)).unwrap() - 1000)).unwrap();
            left -= 1;
        }
        head = step.commit().unwrap();
    }
    head
}

pub(crate) fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    (folder, path)
}

pub(crate) fn verify(path: &Path, options: Options) -> Report {
    Store::open_read(path).unwrap().verify(options, &mut NoWatch).unwrap()
}

pub(crate) fn first(report: &Report) -> Option<&Place> {
    report.faults.first().map(|fault| &fault.place)
}
