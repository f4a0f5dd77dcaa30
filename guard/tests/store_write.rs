//! The store's file: how it is made, shared, refused; and that a step is whole or not there.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use framegate_guard::store::StoreError;
use framegate_guard::store::checkpoint::{
    Checkpointed, Checkpointer, WAL_BYTES_HELD, WAL_BYTES_MAX, WAL_BYTES_MIN,
};
use framegate_guard::store::entry::{Entry, SHARED_BYTES_MIN};
use framegate_guard::store::sqlite::{BUSY_WAIT, Durability, Store};
use framegate_guard::world::Instant;

fn entropy(bytes: &mut [u8]) -> Result<(), StoreError> {
    use std::sync::atomic::{AtomicU8, Ordering};
    static NEXT: AtomicU8 = AtomicU8::new(0);
    bytes.fill_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
    Ok(())
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.db");
    (folder, path)
}

fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(path, Durability::Normal, entropy)
}

fn append(store: &mut Store, entry: &Entry) -> u64 {
    let mut step = store.begin().unwrap();
    let number = step.append(entry, Instant(1)).unwrap();
    step.commit().unwrap();
    number
}

fn raw(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

fn count(path: &Path, table: &str) -> i64 {
    raw(path).query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn a_new_store_is_for_its_user_alone_and_says_what_it_is() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    append(&mut store, &Entry::new("call"));
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.clone().into_os_string();
        file.push(suffix);
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{suffix}");
    }
    let reader = Store::open_read(&path).unwrap();
    let first = reader.row(1).unwrap().unwrap().record().unwrap();
    assert_eq!((first.kind(), first.number("format")), ("store", Some(1)));
    assert_eq!(first.text("id").unwrap().len(), 32);
    let vacuum: u32 = raw(&path).query_row("PRAGMA auto_vacuum", [], |row| row.get(0)).unwrap();
    assert_eq!(vacuum, 2, "what retention frees can be given back");
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_is() {
    let (folder, path) = place();
    std::fs::write(&path, "dear diary, today I wrote a text that is no database at all").unwrap();
    assert!(matches!(open(&path), Err(StoreError::NotAStore(_))));
    assert!(matches!(Store::open_read(&path), Err(StoreError::NotAStore(_))));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("dear diary"));

    let other = folder.path().join("other.db");
    raw(&other).execute_batch("CREATE TABLE mails (id INTEGER PRIMARY KEY)").unwrap();
    let before = std::fs::read(&other).unwrap();
    assert!(matches!(open(&other), Err(StoreError::NotAStore(_))));
    assert!(matches!(Store::open_read(&other), Err(StoreError::NotAStore(_))));
    assert_eq!(std::fs::read(&other).unwrap(), before);

    assert!(matches!(open(folder.path()), Err(StoreError::NotAStore(_))));
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
    assert!(matches!(open(&link), Err(StoreError::Open(_))));
    assert!(!folder.path().join("nowhere").exists());
    assert!(matches!(open(&folder.path().join("no/folder.db")), Err(StoreError::Open(_))));
}

#[test]
fn a_newer_file_is_read_and_never_written() {
    let (_folder, path) = place();
    append(&mut open(&path).unwrap(), &Entry::new("call"));
    raw(&path).pragma_update(None, "user_version", 2).unwrap();
    assert_eq!(open(&path).unwrap_err(), StoreError::Newer(2));
    let reader = Store::open_read(&path).unwrap();
    assert!(reader.is_newer());
    assert_eq!(reader.head().unwrap().sequence, 2);
}

#[test]
fn a_file_with_triggers_views_or_other_tables_is_not_written() {
    let swallow = "CREATE TRIGGER t BEFORE INSERT ON records WHEN new.body LIKE '%call%' BEGIN SELECT RAISE(IGNORE); END";
    for sql in [
        swallow,
        "CREATE TRIGGER sqlite BEFORE INSERT ON contents BEGIN SELECT RAISE(IGNORE); END",
        "PRAGMA writable_schema = ON; CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE seq = new.seq; END; UPDATE sqlite_schema SET name = 'sqlite_t', sql = replace(sql, 'TRIGGER t', 'TRIGGER sqlite_t') WHERE name = 't'",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more (a)",
        "CREATE INDEX more ON records (hash)",
        "DROP INDEX contents_text",
        "ALTER TABLE records ADD COLUMN more TEXT",
        "PRAGMA user_version = 0",
    ] {
        let (_folder, path) = place();
        append(&mut open(&path).unwrap(), &Entry::new("call"));
        raw(&path).execute_batch(sql).unwrap();
        assert!(matches!(open(&path), Err(StoreError::Altered(_))), "{sql}");
        assert_eq!(count(&path, "records"), 2, "{sql}");
    }
    let (_folder, path) = place();
    append(&mut open(&path).unwrap(), &Entry::new("call"));
    raw(&path).execute_batch("ANALYZE").unwrap();
    append(&mut open(&path).unwrap(), &Entry::new("call"));
}

#[test]
fn a_trigger_that_comes_while_the_file_is_open_takes_nothing() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    append(&mut store, &Entry::new("call"));
    let mut taken = open(&path).unwrap();
    let swallow = "CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END";
    raw(&path).execute_batch(swallow).unwrap();
    assert!(matches!(taken.begin(), Err(StoreError::Altered(_))));
    assert!(matches!(store.begin(), Err(StoreError::Altered(_))), "and again");
    assert!(matches!(store.begin(), Err(StoreError::Altered(_))));
    raw(&path).execute_batch("DROP TRIGGER t").unwrap();
    append(&mut store, &Entry::new("call"));
    assert_eq!(count(&path, "records"), 3);
}

#[test]
fn a_step_is_whole_or_not_there() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    append(&mut store, &Entry::new("call"));
    let head = store.head().unwrap();

    let mut step = store.begin().unwrap();
    step.append(&Entry::new("call"), Instant(2)).unwrap();
    drop(step);
    assert_eq!(store.head().unwrap(), head, "dropped");

    // Two contents of one name: the second one fails when the record and the first are already in.
    let twice =
        Entry::new("call").content("a", Bytes::from_static(b"1")).content("a", Bytes::from_static(b"2"));
    let mut step = store.begin().unwrap();
    step.append(&Entry::new("call"), Instant(2)).unwrap();
    let why = step.append(&twice, Instant(2)).unwrap_err();
    assert_eq!(step.commit().unwrap_err(), why, "a failed step cannot be committed");
    assert_eq!(store.head().unwrap(), head);

    for entry in [Entry::new("call").raw("n", "1.5"), Entry::new("call").raw("n", "1,\"n\":2")] {
        let mut step = store.begin().unwrap();
        assert!(matches!(step.append(&entry, Instant(2)), Err(StoreError::Spelling(_))));
    }
    append(&mut store, &Entry::new("call"));
    assert_eq!(count(&path, "records"), 3);
}

#[test]
fn equal_texts_are_kept_once_from_their_least_length_on() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    let text = |length: usize| Bytes::from(vec![b'x'; length]);
    for length in [SHARED_BYTES_MIN - 1, SHARED_BYTES_MIN, SHARED_BYTES_MIN, SHARED_BYTES_MIN + 1] {
        append(&mut store, &Entry::new("text").shared("text", text(length)));
    }
    assert_eq!((count(&path, "texts"), count(&path, "contents")), (2, 4));
    let reader = Store::open_read(&path).unwrap();
    for (number, length) in (2..).zip([SHARED_BYTES_MIN - 1, SHARED_BYTES_MIN, SHARED_BYTES_MIN]) {
        let kept = reader.content(number, "text").unwrap().unwrap();
        assert_eq!(kept.bytes.len(), length);
        let record = reader.row(number).unwrap().unwrap().record().unwrap();
        assert_eq!(record.commitment("text"), Some(kept.commitment()));
    }
}

#[test]
fn many_open_one_new_file_at_once_and_append_in_turn() {
    const WRITERS: u64 = 8;
    const EACH: u64 = 50;
    let (_folder, path) = place();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let mut store = open(&path).unwrap();
                for _ in 0..EACH {
                    append(&mut store, &Entry::new("call"));
                }
            });
        }
    });
    assert_eq!(Store::open_read(&path).unwrap().head().unwrap().sequence, 1 + WRITERS * EACH);
}

#[test]
fn a_clock_set_back_changes_no_order() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    let mut step = store.begin().unwrap();
    for time in [1000, 10, -5] {
        step.append(&Entry::new("call"), Instant(time)).unwrap();
    }
    step.commit().unwrap();
    let reader = Store::open_read(&path).unwrap();
    let times: Vec<i64> = reader.rows(2..).map(|row| row.unwrap().record().unwrap().time().0).collect();
    assert_eq!(times, [1000, 10, -5]);
}

#[test]
fn a_file_that_another_holds_is_waited_for_and_then_said_so() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    append(&mut store, &Entry::new("call"));
    let other = raw(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    let why = store.begin().unwrap_err();
    assert_eq!(why, StoreError::Locked { wait_s: BUSY_WAIT.as_secs() });
    assert!(begun.elapsed() >= BUSY_WAIT && begun.elapsed() < BUSY_WAIT * 2, "{:?}", begun.elapsed());
    other.execute_batch("ROLLBACK").unwrap();
    append(&mut store, &Entry::new("call"));
}

#[test]
fn the_wal_of_a_long_session_stays_small() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    let mut checkpointer = Checkpointer::open(&path).unwrap();
    assert_eq!(checkpointer.run_once().unwrap(), Checkpointed::Small);
    let mut largest = 0;
    let mut seen = Vec::new();
    for number in 0..4000_u32 {
        let bytes = Bytes::from(number.to_string().repeat(300));
        append(&mut store, &Entry::new("call").content("arguments", bytes));
        if number % 100 == 0 {
            seen.push(checkpointer.run_once().unwrap());
        }
        largest = largest.max(checkpointer.wal_bytes());
    }
    assert!(largest < WAL_BYTES_MAX + 2 * WAL_BYTES_MIN, "{largest}");
    assert!(seen.contains(&Checkpointed::All) && seen.contains(&Checkpointed::Small));

    // Somebody who reads on in one snapshot: what cannot be begun anew is tried again, nobody waits long.
    let reader = raw(&path);
    reader.execute_batch("BEGIN; SELECT count(*) FROM records").unwrap();
    while checkpointer.wal_bytes() <= WAL_BYTES_MAX {
        append(&mut store, &Entry::new("call").content("arguments", Bytes::from(vec![b'x'; 100_000])));
    }
    assert_eq!(checkpointer.run_once().unwrap(), Checkpointed::Some);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(checkpointer.run_once().unwrap(), Checkpointed::All);
    assert_eq!(checkpointer.wal_bytes(), 0);
    assert_eq!(checkpointer.finish().unwrap(), Checkpointed::All);
}

#[test]
fn a_writer_that_never_pauses_lets_the_wal_begin_anew() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (_folder, path) = place();
    let mut checkpointer = {
        drop(open(&path).unwrap());
        Checkpointer::open(&path).unwrap()
    };
    let is_done = AtomicBool::new(false);
    // Far more than ever has to wait in the WAL; each step is begun as soon as the last one is committed.
    let write = || {
        let mut store = open(&path).unwrap();
        let bytes = Bytes::from(vec![b'x'; 256 * 1024]);
        for _ in 0..3000 {
            let mut step = store.begin().unwrap();
            step.append(&Entry::new("call").content("arguments", bytes.clone()), Instant(1)).unwrap();
            step.commit().unwrap();
            if is_done.load(Ordering::Relaxed) {
                return true;
            }
        }
        false
    };
    std::thread::scope(|scope| {
        let writer = scope.spawn(write);
        let (mut begun_anew, mut largest) = (0, 0);
        while begun_anew < 3 && !writer.is_finished() {
            let before = checkpointer.wal_bytes();
            largest = largest.max(before);
            let done = checkpointer.run_once().unwrap();
            begun_anew += u32::from(done == Checkpointed::All && before >= WAL_BYTES_MAX);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap(), "the WAL was not begun anew while there was writing");
        assert!(largest < 2 * WAL_BYTES_HELD, "{largest}");
    });
}

#[test]
fn a_full_disk_is_called_that() {
    let (_folder, path) = place();
    let mut store = open(&path).unwrap();
    append(&mut store, &Entry::new("call"));
    drop(store);
    // SQLite's own limit fails in the same place and way as a disk without room.
    let limited = raw(&path);
    let pages: u32 = limited.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    limited.pragma_update(None, "max_page_count", pages).unwrap();
    let failed =
        limited.execute("INSERT INTO records VALUES (9, ?1, x'00')", ["x".repeat(100_000)]).unwrap_err();
    assert_eq!(StoreError::from(failed), StoreError::Full);
}

#[test]
fn without_random_bytes_nothing_is_recorded() {
    let (_folder, path) = place();
    let none = |_: &mut [u8]| Err(StoreError::Entropy("no such call".into()));
    let mut store = Store::open(&path, Durability::Normal, none).unwrap();
    let mut step = store.begin().unwrap();
    let why = step.append(&Entry::new("call"), Instant(1)).unwrap_err();
    assert!(matches!(why, StoreError::Entropy(_)), "{why}");
    assert_eq!(step.commit().unwrap_err(), why);
    assert_eq!(store.head().unwrap().sequence, 0);
}
