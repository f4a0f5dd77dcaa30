//! What was written is read back.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;

use bytes::Bytes;
use framegate_guard::store::StoreError;
use framegate_guard::store::entry::Entry;
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::world::Instant;

fn entropy(bytes: &mut [u8]) -> Result<(), StoreError> {
    use std::sync::atomic::{AtomicU8, Ordering};
    static NEXT: AtomicU8 = AtomicU8::new(0);
    bytes.fill_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
    Ok(())
}

fn filled(count: u32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    let mut store = Store::open(&path, Durability::Normal, entropy).unwrap();
    let mut step = store.begin().unwrap();
    for number in 0..count {
        let entry = Entry::new("call")
            .text("tool", "read \"file\"\n")
            .number("bytes", number)
            .content("arguments", Bytes::from(format!("{{\"n\":{number}}}")))
            .committed("result", Bytes::from_static(b"long"));
        step.append(&entry, Instant(1000 + i64::from(number))).unwrap();
    }
    step.commit().unwrap();
    (folder, path)
}

#[test]
fn records_and_contents_come_back_as_they_were() {
    let (_folder, path) = filled(3);
    let reader = Store::open_read(&path).unwrap();
    let row = reader.last(1).unwrap().remove(0);
    let record = row.record().unwrap();
    assert_eq!((record.seq(), record.kind(), record.number("bytes")), (row.seq, "call", Some(2)));
    assert_eq!(record.text("tool"), Some("read \"file\"\n"));
    assert_eq!(record.time(), Instant(1002));
    assert_eq!(record.fields().collect::<Vec<_>>(), ["arguments", "result"]);
    assert!(record.was_dropped("result") && !record.was_dropped("arguments"));
    let kept = reader.contents(row.seq).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].bytes, "{\"n\":2}");
    assert_eq!(record.commitment("arguments"), Some(kept[0].commitment()));
}

#[test]
fn rows_come_in_order_from_any_page() {
    let (_folder, path) = filled(1000);
    let reader = Store::open_read(&path).unwrap();
    let head = reader.head().unwrap();
    let numbers =
        |rows: framegate_guard::store::reader::Rows<'_>| rows.map(|row| row.unwrap().seq).collect::<Vec<_>>();
    assert_eq!(numbers(reader.rows(..)), (1..=head.sequence).collect::<Vec<_>>());
    assert_eq!(numbers(reader.rows_back(..)), (1..=head.sequence).rev().collect::<Vec<_>>());
    assert_eq!(numbers(reader.rows(255..259)), [255, 256, 257, 258]);
    assert_eq!(numbers(reader.rows_back(..=2)), [2, 1]);
    assert_eq!(numbers(reader.rows(0..0)), [0; 0]);
    assert_eq!(numbers(reader.rows(u64::MAX..)), [0; 0]);
    assert_eq!(reader.last(2).unwrap().last().unwrap().hash, head.hash);
    assert!(reader.row(head.sequence).unwrap().is_some() && reader.row(0).unwrap().is_none());
}

#[test]
fn what_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    assert!(matches!(Store::open_read(&path), Err(StoreError::Open(_))));
    assert!(!path.exists());
}
