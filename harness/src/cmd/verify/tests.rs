use std::path::Path;

use bytes::Bytes;
use framegate_guard::store::entry::Entry;
use framegate_guard::store::lines::line;
use framegate_guard::store::sqlite::Durability;
use framegate_guard::world::Instant;

use super::*;

fn entropy(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).unwrap();
    Ok(())
}

fn fill(path: &Path) {
    let mut store = Store::open(path, Durability::Normal, entropy).unwrap();
    let mut step = store.begin().unwrap();
    let call = Entry::new("call").number("session", 1).text("tool", "re\u{1b}ad").text("sent", "no");
    let call = call.texts("failed", ["inside_work"].into_iter()).flag("waived", true);
    let frame = Bytes::from(vec![1; 32]);
    step.append(&call.content("frame", frame.clone()).content("out", Bytes::from(vec![2; 32])), Instant(1))
        .unwrap();
    step.append(&Entry::new("end").number("call", 2).text("how", "done").content("frame", frame), Instant(2))
        .unwrap();
    step.append(&Entry::new("gap").number("count", 3), Instant(2)).unwrap();
    step.commit().unwrap();
}

fn seen(path: &Path) -> Report {
    look(path, Options::default(), &mut NoWatch).unwrap()
}

#[test]
fn a_store_and_its_lines_are_told_apart_and_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    fill(&path);
    let reader = Store::open_read(&path).unwrap();
    let lines: Vec<String> = reader
        .rows(..)
        .map(|row| {
            let row = row.unwrap();
            line(&row, &reader.contents(row.seq).unwrap())
        })
        .collect();
    let as_lines = folder.path().join("record.jsonl");
    std::fs::write(&as_lines, lines.join("\n")).unwrap();
    let (store, lines) = (seen(&path), seen(&as_lines));
    assert_eq!(store, lines);
    let text = text("r", &store, None);
    assert_eq!(text[0], "r: whole");
    assert_eq!(text[1], format!("  head {}", store.head));
    assert!(
        text.contains(&"  calls that went out before they were on disk (bounded): 1".to_owned()),
        "{text:?}"
    );
    assert!(text.contains(&"  calls that went out and were never written: 3".to_owned()), "{text:?}");
}

#[test]
fn the_first_broken_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    std::fs::write(&path, "{\"seq\":1}\n").unwrap();
    let report = seen(&path);
    let lines = text("r", &report, None);
    assert_eq!(lines[0], "r: broken");
    assert!(lines[1].starts_with("  first broken: record 1: cannot be read"), "{lines:?}");
    assert!(!lines[1].contains("ask `framegate verify`"), "{lines:?}");
    let json = as_json("r", &report, None);
    assert_eq!((&json["whole"], &json["faults"][0]["place"]), (&false.into(), &"record 1".into()));
}

#[test]
fn what_is_no_record_is_no_broken_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "dear diary").unwrap();
    assert_eq!(look(&path, Options::default(), &mut NoWatch).unwrap_err().exit, Exit::File);
    let none = folder.path().join("none.db");
    assert_eq!(look(&none, Options::default(), &mut NoWatch).unwrap_err().exit, Exit::File);
}

#[test]
fn fidelity_shows_what_did_not_go_on_as_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    fill(&path);
    for (as_json, rows) in [(false, 1), (true, 2)] {
        let mut found = Vec::new();
        let mut watch = Fidelity::new(|one| found.extend(fidelity::row(&one, as_json)));
        look(&path, Options::default(), &mut watch).unwrap();
        assert_eq!((watch.totals.verbatim, watch.totals.changed), (1, 1));
        drop(watch);
        assert_eq!(found.len(), rows);
        assert!(found[0].contains("inside_work") && !found[0].contains('\u{1b}'), "{found:?}");
    }
}

#[test]
fn an_empty_record_is_not_called_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    drop(Store::open(&path, Durability::Normal, entropy).unwrap());
    let lines = folder.path().join("record.jsonl");
    std::fs::write(&lines, "").unwrap();
    for file in [path, lines] {
        let report = seen(&file);
        assert!(!report.is_whole());
        assert_eq!(text("r", &report, None)[0], "r: empty: no record");
    }
}

/// Changes what a file says its tables are.
fn change_schema(path: &Path, sql: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let (from, to) = sql.split_once(" -> ").unwrap();
    let at = memchr::memmem::find(&bytes, from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_broken_schema_sends_nobody_in_circles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    fill(&path);
    change_schema(&path, "CREATE INDEX contents_text -> CREATE INDEX conten\u{1b}[2Jx");
    let failure = look(&path, Options::default(), &mut NoWatch).unwrap_err();
    assert_eq!(failure.exit, Exit::Data, "{failure:?}");
    assert!(!failure.text.contains("framegate verify"), "{failure:?}");
    assert!(failure.text.chars().all(crate::calls::is_shown), "{failure:?}");
}

#[test]
fn nothing_that_a_record_says_moves_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    let mut store = Store::open(&path, Durability::Normal, entropy).unwrap();
    let mut step = store.begin().unwrap();
    let odd = "a\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\u{7f}\u{e0041}\nrecord 9: fine";
    let call = Entry::new("call").number("session", 1).text("tool", odd).text("sent", "no");
    let call = call.texts("failed", [odd].into_iter());
    step.append(&call.content("frame", Bytes::from(vec![1; 32])), Instant(1)).unwrap();
    step.commit().unwrap();
    for as_json in [false, true] {
        let mut found = Vec::new();
        let mut watch = Fidelity::new(|one| found.extend(fidelity::row(&one, as_json)));
        look(&path, Options::default(), &mut watch).unwrap();
        drop(watch);
        assert!(found[0].chars().all(crate::calls::is_shown), "{found:?}");
        if as_json {
            let read: serde_json::Value = serde_json::from_str(&found[0]).unwrap();
            assert_eq!((read["what"].as_str(), read["by"].as_str()), (Some(odd), Some(odd)));
        }
    }
    let fault = Fault { place: framegate_guard::store::verify::Place::File, what: odd.to_owned() };
    let report = Report { faults: vec![fault.clone(), fault], faults_count: 2, ..Report::default() };
    let lines = text(odd, &report, None);
    assert!(lines.iter().all(|line| line.chars().all(crate::calls::is_shown)), "{lines:?}");
}
