//! Contents go, the chain stays; signatures show that it was not written anew.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::time::Duration;

use crate::store_common::{Dice, entropy, fill, first, place, verify};
use bytes::Bytes;
use ed25519_dalek::SigningKey;
use framegate_guard::store::entry::Entry;
use framegate_guard::store::retain::{EXCEPT, Limits, Removal, STEP_CONTENTS_MAX};
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::store::verify::{FAULTS_MAX, Options, Place};
use framegate_guard::world::Instant;
use rusqlite::Connection;

fn open(path: &Path) -> Store {
    Store::open(path, Durability::Normal, entropy).unwrap()
}

fn append(store: &mut Store, entry: &Entry, time: i64) {
    let mut step = store.begin().unwrap();
    step.append(entry, Instant(time)).unwrap();
    step.commit().unwrap();
}

fn call(number: u32) -> Entry {
    let result = Bytes::from(format!("result {number}").repeat(100));
    Entry::new("call").content("arguments", Bytes::from(vec![b'a'; 100])).shared("result", result)
}

fn all(path: &Path, sql: &str) -> Vec<i64> {
    let store = Connection::open(path).unwrap();
    let mut select = store.prepare(sql).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

const SEQS: &str = "SELECT DISTINCT seq FROM contents ORDER BY seq";

#[test]
fn removed_contents_are_gone_and_the_chain_says_so() {
    let (_folder, path) = place();
    let mut store = open(&path);
    append(&mut store, &Entry::new("text").shared("text", Bytes::from(vec![b'p'; 1000])), 1);
    (3..=10).for_each(|number| append(&mut store, &call(number % 2), 1));
    let only_arguments = Removal { from: 4, to: 5, fields: &["arguments"], except: &[], why: "redact" };
    assert_eq!(store.remove(&only_arguments, Instant(2)).unwrap(), 2);
    let most = Removal { from: 0, to: 8, fields: &[], except: &EXCEPT, why: "size" };
    assert_eq!(store.remove(&most, Instant(2)).unwrap(), 6 * 2 - 2);
    assert_eq!(all(&path, SEQS), [2, 9, 10]);
    assert_eq!(all(&path, "SELECT count(*) FROM texts"), [3], "9 and 10 still have theirs");
    let report = verify(&path, Options::default());
    assert!(report.is_whole(), "{:?}", report.faults);
    assert_eq!((report.counts.removed, report.counts.records), (12, 12));

    let rest = Removal { from: 0, to: u64::MAX, fields: &[], except: &[], why: "size" };
    assert_eq!(store.remove(&rest, Instant(2)).unwrap(), 5);
    assert_eq!(all(&path, "SELECT count(*) FROM texts"), [0]);
    assert_eq!(store.remove(&rest, Instant(2)).unwrap(), 0, "nothing to remove, nothing to write");
    assert_eq!(verify(&path, Options::default()).counts.records, 13);

    // What its `removed` record does not cover is missing all the same.
    append(&mut store, &call(1), 3);
    drop(store);
    Connection::open(&path).unwrap().execute_batch("DELETE FROM contents; DELETE FROM texts").unwrap();
    let report = verify(&path, Options::default());
    assert_eq!(first(&report), Some(&Place::Content(14, "arguments".into())));
}

#[test]
fn limits_of_age_and_size_take_the_oldest() {
    let (_folder, path) = place();
    let mut store = open(&path);
    // Once the clock was years ahead, and once it was set back.
    for (number, time) in (0..).zip([100, 200, 9_000_000, 300, 400, 50, 500]) {
        append(&mut store, &call(number), time);
    }
    let age = |micros| Limits { age: Some(Duration::from_micros(micros)), bytes: None };
    assert_eq!(store.retain(&age(1000), Instant(1000)).unwrap(), 0);
    assert_eq!(store.retain(&age(900), Instant(1000)).unwrap(), 0, "at the limit");
    assert_eq!(store.retain(&age(899), Instant(1000)).unwrap(), 2, "above");
    assert_eq!(store.retain(&age(650), Instant(1000)).unwrap(), 3 * 2);
    assert_eq!(all(&path, SEQS), [6, 7, 8]);

    let each = 100 + 800;
    let bytes = |bytes| Limits { age: None, bytes: Some(bytes) };
    assert_eq!(store.retain(&bytes(10_000_000), Instant(1000)).unwrap(), 0);
    assert_eq!(store.retain(&bytes(3 * each), Instant(1000)).unwrap(), 0, "at the limit");
    assert_eq!(store.retain(&bytes(3 * each - 1), Instant(1000)).unwrap(), 2, "above");
    assert_eq!(all(&path, SEQS), [7, 8]);
    assert_eq!(store.retain(&bytes(0), Instant(1000)).unwrap(), 4);
    assert!(verify(&path, Options::default()).is_whole());
}

#[test]
fn many_contents_are_removed_in_steps() {
    for (count, steps) in [(STEP_CONTENTS_MAX - 1, 1), (STEP_CONTENTS_MAX, 1), (STEP_CONTENTS_MAX + 1, 2)] {
        let (_folder, path) = place();
        let mut store = open(&path);
        let mut step = store.begin().unwrap();
        for _ in 0..count {
            step.append(&Entry::new("call").content("arguments", Bytes::from_static(b"{}")), Instant(1))
                .unwrap();
        }
        step.commit().unwrap();
        let everything = Removal { from: 0, to: u64::MAX, fields: &[], except: &[], why: "age" };
        assert_eq!(store.remove(&everything, Instant(2)).unwrap(), count);
        let report = verify(&path, Options::default());
        assert!(report.is_whole(), "{:?}", report.faults);
        assert_eq!((report.counts.removed, report.counts.records), (count, 1 + count + steps));
    }
}

#[test]
fn faults_beyond_their_limit_are_counted() {
    let limit = u64::try_from(FAULTS_MAX).unwrap();
    for broken in [limit - 1, limit, limit + 1] {
        let (_folder, path) = place();
        fill(&path, 50, &mut Dice(8));
        let sql = format!("UPDATE records SET body = '' WHERE seq % 2 = 0 AND seq <= {}", 2 * broken);
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        let report = verify(&path, Options::default());
        // Each is wrong in two ways: its hash, and its spelling; and what it says of its contents is not read.
        assert_eq!(report.faults_count, 2 * broken);
        assert_eq!(report.faults.len(), FAULTS_MAX.min(usize::try_from(2 * broken).unwrap()));
    }
    for broken in [limit - 1, limit, limit + 1] {
        let (_folder, path) = place();
        fill(&path, 50, &mut Dice(8));
        let sql = format!("UPDATE records SET hash = x'00' WHERE seq % 2 = 0 AND seq <= {}", 2 * broken);
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        let report = verify(&path, Options::default());
        let found = report.faults.iter().filter(|fault| matches!(fault.place, Place::Record(_))).count();
        assert_eq!(found, FAULTS_MAX.min(usize::try_from(broken).unwrap()), "{:?}", report.faults);
    }
}

#[test]
fn space_is_given_back_and_nothing_stays_in_free_pages() {
    let (_folder, path) = place();
    let mut store = open(&path);
    for number in 0..300 {
        append(
            &mut store,
            &Entry::new("call").content("arguments", format!("SECRET{number}").repeat(2000).into()),
            1,
        );
    }
    let used = store.bytes_used().unwrap();
    let everything = Removal { from: 0, to: u64::MAX, fields: &[], except: &[], why: "age" };
    assert_eq!(store.remove(&everything, Instant(2)).unwrap(), 300);
    assert!(store.bytes_used().unwrap() < used / 10);
    drop(store);
    let file = std::fs::read(&path).unwrap();
    assert!(file.len() < 300_000, "{}", file.len());
    let left: Vec<usize> =
        file.windows(6).enumerate().filter(|(_, part)| *part == b"SECRET").map(|(at, _)| at).collect();
    assert_eq!(left, [0; 0], "of {}", file.len());
    assert!(verify(&path, Options::default()).is_whole());
}

#[test]
fn a_chain_written_anew_is_not_signed() {
    let (_folder, path) = place();
    fill(&path, 5, &mut Dice(3));
    let key = SigningKey::from_bytes(&[7; 32]);
    let mut store = open(&path);
    let mut step = store.begin().unwrap();
    assert_eq!(step.checkpoint(&key, Instant(9)).unwrap(), 7);
    step.commit().unwrap();
    let by = |key: &SigningKey| Options { head: None, key: Some(key.verifying_key().to_bytes()) };
    let report = verify(&path, by(&key));
    assert!(report.is_whole(), "{:?}", report.faults);
    assert_eq!((report.counts.signed, report.counts.signed_to), (1, 6));
    let other = SigningKey::from_bytes(&[8; 32]);
    assert_eq!(first(&verify(&path, by(&other))), Some(&Place::Record(7)));

    // One who forges a checkpoint can copy a key's name, not its signature.
    let before = store.head().unwrap();
    let mut step = store.begin().unwrap();
    let forged = Entry::new("checkpoint")
        .hash("signs", &before.hash)
        .text("key", "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c")
        .text("signature", &"0".repeat(128));
    step.append(&forged, Instant(9)).unwrap();
    step.commit().unwrap();
    let report = verify(&path, by(&key));
    assert_eq!(first(&report), Some(&Place::Record(8)));
    assert!(
        report.faults.iter().any(|fault| fault.what.contains("signature is wrong")),
        "{:?}",
        report.faults
    );

    let (_folder, path) = place();
    fill(&path, 5, &mut Dice(3));
    let report = verify(&path, by(&key));
    assert_eq!(first(&report), Some(&Place::File), "a store without any signature is not what was signed");
}
