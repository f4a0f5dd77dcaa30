//! A file that was damaged: never a panic, never "whole" where a row reads differently; what was committed before
//! a cut is still there.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;

use crate::store_common::{Dice, entropy, entry, fill, first, place, verify};
use framegate_guard::store::StoreError;
use framegate_guard::store::chain::Head;
use framegate_guard::store::read::{Kept, Row};
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::store::verify::{NoWatch, Options, Report};
use framegate_guard::world::Instant;

/// All that a reader sees.
fn all(path: &Path) -> Result<Vec<(Row, Vec<Kept>)>, StoreError> {
    let reader = Store::open_read(path)?;
    let rows: Vec<Row> = reader.rows(..).collect::<Result<_, _>>()?;
    rows.into_iter().map(|row| Ok((reader.row(row.seq)?.unwrap(), reader.contents(row.seq)?))).collect()
}

fn try_verify(path: &Path) -> Result<Report, StoreError> {
    Store::open_read(path)?.verify(Options::default(), &mut NoWatch)
}

#[test]
fn flipped_bytes_are_found_or_change_nothing() {
    let (folder, path) = place();
    fill(&path, 120, &mut Dice(11));
    let original = std::fs::read(&path).unwrap();
    let before = all(&path).unwrap();
    let damaged = folder.path().join("damaged.db");
    let mut dice = Dice(4711);
    let mut found = 0;
    for round in 0..200 {
        let mut bytes = original.clone();
        for _ in 0..1 + dice.roll(3) {
            let at = usize::try_from(dice.roll(u64::try_from(bytes.len()).unwrap())).unwrap();
            bytes[at] ^= u8::try_from(1 + dice.roll(255)).unwrap();
        }
        std::fs::write(&damaged, &bytes).unwrap();
        match try_verify(&damaged) {
            Ok(report) if report.is_whole() => assert_eq!(all(&damaged).unwrap(), before),
            Ok(_) | Err(_) => found += 1,
        }
        // A writer meets it too, and does not panic either.
        if round % 4 == 0
            && let Ok(mut store) = Store::open(&damaged, Durability::Normal, entropy)
        {
            let _ = store.begin().and_then(|mut step| step.append(&entry(&mut dice), Instant(1)));
        }
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("damaged.db{suffix}")));
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn a_torn_file_is_not_whole() {
    let (folder, path) = place();
    fill(&path, 120, &mut Dice(12));
    let original = std::fs::read(&path).unwrap();
    let torn = folder.path().join("torn.db");
    let mut dice = Dice(99);
    for _ in 0..100 {
        let length = dice.roll(u64::try_from(original.len()).unwrap());
        std::fs::write(&torn, &original[..usize::try_from(length).unwrap()]).unwrap();
        if let Ok(report) = try_verify(&torn) {
            assert!(first(&report).is_some(), "{length} of {}", original.len());
        }
    }
}

#[test]
fn whatever_is_lost_of_the_wal_a_prefix_of_the_commits_is_left() {
    let (folder, path) = place();
    let mut dice = Dice(13);
    let mut store = Store::open(&path, Durability::Normal, entropy).unwrap();
    let mut heads = vec![Head::default()];
    for _ in 0..60 {
        let mut step = store.begin().unwrap();
        for _ in 0..1 + dice.roll(3) {
            step.append(&entry(&mut dice), Instant(1)).unwrap();
        }
        heads.push(step.commit().unwrap());
    }
    // The process is gone, its files are left.
    let wal = std::fs::read(folder.path().join("record.db-wal")).unwrap();
    let after = folder.path().join("after.db");
    let mut longest = 0;
    for round in 0..80 {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("after.db{suffix}")));
        }
        std::fs::copy(&path, &after).unwrap();
        let mut left = wal.clone();
        let at = usize::try_from(dice.roll(u64::try_from(wal.len()).unwrap())).unwrap();
        if round % 2 == 0 {
            left.truncate(at);
        } else {
            left[at] ^= 0x40;
        }
        std::fs::write(folder.path().join("after.db-wal"), left).unwrap();
        // A new session goes on from there.
        let mut again = Store::open(&after, Durability::Normal, entropy).unwrap();
        let head = again.head().unwrap();
        assert!(heads.contains(&head), "{head} is not one that was committed");
        longest = longest.max(head.sequence);
        let mut step = again.begin().unwrap();
        step.append(&entry(&mut dice), Instant(2)).unwrap();
        step.commit().unwrap();
        let report = verify(&after, Options::default());
        assert!(report.is_whole(), "{:?}", report.faults);
    }
    assert!(longest > heads.last().unwrap().sequence / 2, "{longest}");
}

#[test]
fn a_store_is_verified_while_a_session_writes() {
    let (_folder, path) = place();
    fill(&path, 500, &mut Dice(14));
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for round in 0..20 {
                fill(&path, 50, &mut Dice(20 + round));
            }
        });
        while !writing.is_finished() {
            let report = verify(&path, Options::default());
            assert!(report.is_whole(), "{:?}", report.faults);
        }
    });
    let before = std::fs::read(&path).unwrap();
    let report = verify(&path, Options::default());
    assert_eq!(report.counts.records, 1501);
    assert_eq!(std::fs::read(&path).unwrap(), before, "reading changes nothing");
}
