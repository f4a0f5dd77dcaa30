//! Each change of each column of each row of each table is found, at its row; by us and by the Python verifier.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::store_common::{Dice, fill, first, place, verify};
use framegate_guard::store::lines::{Lines, line};
use framegate_guard::store::retain::{EXCEPT, Removal};
use framegate_guard::store::sqlite::{Durability, Store};
use framegate_guard::store::verify::{KnownHead, NoWatch, Options, Place};
use framegate_guard::world::Instant;
use rusqlite::Connection;

/// A sabotage in SQL, and the places that may be named for it.
struct Case {
    sql: String,
    places: Vec<Place>,
}

fn case(sql: impl Into<String>, places: impl IntoIterator<Item = Place>) -> Case {
    Case { sql: sql.into(), places: places.into_iter().collect() }
}

fn content(seq: i64, field: &str) -> Place {
    Place::Content(seq, field.to_owned())
}

/// SQL that gives other bytes of the same length: the first one differs.
fn flipped(column: &str) -> String {
    let first = format!("CASE substr({column}, 1, 1) WHEN x'01' THEN x'02' ELSE x'01' END");
    format!("CAST({first} || substr({column}, 2) AS BLOB)")
}

fn numbers(store: &Connection, sql: &str) -> Vec<i64> {
    let mut select = store.prepare(sql).unwrap();
    let rows = select.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn on_records(store: &Connection) -> Vec<Case> {
    let all = numbers(store, "SELECT seq FROM records ORDER BY seq");
    let last = *all.last().unwrap();
    let mut cases = Vec::new();
    for &seq in &all {
        let at = format!("WHERE seq = {seq}");
        let here = || [Place::Record(seq)];
        cases.push(case(
            format!("UPDATE records SET body = replace(body, '\"kind\":\"', '\"kind\":\"a') {at}"),
            here(),
        ));
        cases.push(case(format!("UPDATE records SET body = body || ' ' {at}"), here()));
        cases.push(case(format!("UPDATE records SET body = '' {at}"), here()));
        cases.push(case(format!("UPDATE records SET body = CAST(x'ff7b7d' AS TEXT) {at}"), here()));
        cases.push(case(format!("UPDATE records SET hash = {} {at}", flipped("hash")), here()));
        cases.push(case(format!("UPDATE records SET hash = x'' {at}"), here()));
        cases.push(case(format!("UPDATE records SET seq = {} {at}", last + 1), here()));
        cases.push(case(format!("UPDATE records SET seq = {} {at}", i64::MAX), here()));
        cases.push(case(format!("UPDATE records SET seq = -7 {at}"), [Place::Record(-7)]));
        cases.push(case(
            format!("DELETE FROM records {at}"),
            if seq == last { vec![Place::Record(seq), Place::File] } else { here().to_vec() },
        ));
        if seq < last {
            for column in ["body", "hash", "body, hash"] {
                let other = seq + 1;
                let select = |at: i64| format!("(SELECT {column} FROM old WHERE seq = {at})");
                cases.push(case(
                    format!("CREATE TEMP TABLE old AS SELECT * FROM records; UPDATE records SET ({column}) = {} WHERE seq = {seq}; UPDATE records SET ({column}) = {} WHERE seq = {other}", select(other), select(seq)),
                    here(),
                ));
            }
        }
    }
    cases.push(case(
        format!("INSERT INTO records SELECT {}, body, hash FROM records WHERE seq = 2", last + 1),
        [Place::Record(last + 1)],
    ));
    cases.push(case(
        "INSERT INTO records SELECT 0, body, hash FROM records WHERE seq = 2",
        [Place::Record(0)],
    ));
    cases
}

fn on_contents(store: &Connection) -> Vec<Case> {
    let mut select = store.prepare("SELECT seq, field, text IS NULL FROM contents").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, String, bool)> = rows.map(Result::unwrap).collect();
    let last = *numbers(store, "SELECT max(seq) FROM records").first().unwrap();
    let mut cases = Vec::new();
    for (seq, field, is_own) in rows {
        let at = format!("WHERE seq = {seq} AND field = '{field}'");
        let here = || vec![content(seq, &field)];
        let set = |what: &str| format!("UPDATE contents SET {what} {at}");
        cases.push(case(set(&format!("salt = {}", flipped("salt"))), here()));
        cases.push(case(set("salt = x'00'"), here()));
        cases.push(case(set("field = 'other'"), vec![content(seq, "other")]));
        cases.push(case(set("seq = 1"), vec![content(1, &field)]));
        cases.push(case(set("seq = 0"), vec![Place::Record(0)]));
        cases.push(case(set(&format!("seq = {}", last + 5)), vec![Place::Record(last + 1)]));
        cases.push(case(format!("DELETE FROM contents {at}"), here()));
        cases.push(case(set("bytes = NULL, text = NULL"), here()));
        cases.push(case(set("text = 777777"), here()));
        if is_own {
            cases.push(case(set(&format!("bytes = {}", flipped("bytes"))), here()));
            cases.push(case(set("bytes = CAST(bytes || x'00' AS BLOB)"), here()));
            cases.push(case(set("text = (SELECT min(id) FROM texts)"), here()));
            cases.push(case(set("bytes = NULL, text = (SELECT min(id) FROM texts)"), here()));
        } else {
            cases.push(case(set("bytes = (SELECT bytes FROM texts WHERE id = text)"), here()));
            cases.push(case(set("text = (SELECT id FROM texts WHERE id != text LIMIT 1)"), here()));
        }
    }
    for seq in 1..=last {
        let sql = format!(
            "INSERT INTO contents (seq, field, salt, bytes) VALUES ({seq}, 'edited', zeroblob(16), x'00')"
        );
        cases.push(case(sql, vec![content(seq, "edited")]));
    }
    cases
}

fn on_texts(store: &Connection) -> Vec<Case> {
    let mut cases = Vec::new();
    for id in numbers(store, "SELECT id FROM texts ORDER BY id") {
        let at = format!("WHERE id = {id}");
        let user = store.query_row(
            &format!("SELECT seq, field FROM contents WHERE text = {id} ORDER BY seq, field LIMIT 1"),
            [],
            |row| Ok(content(row.get(0)?, &row.get::<_, String>(1)?)),
        );
        let user = user.unwrap();
        cases.push(case(format!("UPDATE texts SET bytes = {} {at}", flipped("bytes")), [Place::Text(id)]));
        cases.push(case(format!("UPDATE texts SET hash = {} {at}", flipped("hash")), [Place::Text(id)]));
        cases.push(case(format!("UPDATE texts SET id = 1234 {at}"), [user.clone()]));
        cases.push(case(format!("UPDATE texts SET id = -3 {at}"), [user.clone()]));
        cases.push(case(format!("DELETE FROM texts {at}"), [user]));
    }
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    cases.push(case(format!("INSERT INTO texts VALUES (99, x'{hash}', x'')"), [Place::Text(99)]));
    cases.push(case("INSERT INTO texts VALUES (99, x'00', x'')", [Place::Text(99)]));
    let swap = "CREATE TEMP TABLE old AS SELECT * FROM texts; UPDATE texts SET bytes = (SELECT bytes FROM old WHERE old.id != texts.id)";
    cases.push(case(swap, [Place::Text(1)]));
    cases
}

/// Columns without constraints may be NULL, of any type: the tables are made anew for that.
fn on_loose_tables(store: &Connection) -> Vec<Case> {
    let mut cases = Vec::new();
    let loose = |table: &str, change: &str| {
        format!(
            "ALTER TABLE {table} RENAME TO old; CREATE TABLE {table} AS SELECT * FROM old; DROP TABLE old; {change}"
        )
    };
    for seq in numbers(store, "SELECT seq FROM records WHERE seq % 4 = 2") {
        for value in ["NULL", "1", "1.5", "'text'"] {
            for column in ["body", "hash"] {
                let change = format!("UPDATE records SET {column} = {value} WHERE seq = {seq}");
                cases.push(case(loose("records", &change), [Place::Record(seq)]));
            }
        }
    }
    cases.push(case(loose("records", ""), [Place::File]));
    cases.push(case(
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM contents; END",
        [Place::File],
    ));
    cases.push(case("CREATE VIEW v AS SELECT 1", [Place::File]));
    // Names that look like SQLite's own, and headers that make the tables look like those of another format.
    cases.push(case(
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM contents; END; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'sqlite_t', sql = replace(sql, 'TRIGGER t', 'TRIGGER sqlite_t') WHERE name = 't'",
        [Place::File],
    ));
    for version in [0, 2, 7] {
        let trigger = "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM contents; END";
        cases.push(case(format!("PRAGMA user_version = {version}"), [Place::File]));
        cases.push(case(format!("{trigger}; PRAGMA user_version = {version}"), [Place::File]));
    }
    cases.push(case("DROP INDEX contents_text", [Place::File]));
    cases
}

/// Makes it, closes it, and gives the sabotaged ones with their cases.
fn sabotaged(folder: &Path, original: &Path, cases: Vec<Case>) -> Vec<(PathBuf, Case)> {
    let bytes = std::fs::read(original).unwrap();
    let make = |(number, case): (usize, Case)| {
        let path = folder.join(format!("case{number}.db"));
        std::fs::write(&path, &bytes).unwrap();
        let store = Connection::open(&path).unwrap();
        // Nothing here has to survive anything.
        store.execute_batch("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;").unwrap();
        let done = store.execute_batch(&case.sql);
        assert_eq!(done, Ok(()), "{}", case.sql);
        (path, case)
    };
    cases.into_iter().enumerate().map(make).collect()
}

/// What the Python verifier prints of each file: head and first fault.
fn python(arguments: &[&str], files: &[&Path]) -> Vec<(String, String)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/verify_record.py");
    let out = Command::new("python3").arg(script).args(arguments).args(files).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines: Vec<&str> = text.lines().map(|line| line.split_once(": ").unwrap().1).collect();
    assert_eq!(lines.len(), 2 * files.len());
    lines.chunks(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
}

fn known(head: framegate_guard::store::chain::Head) -> Options {
    let head = KnownHead { seq: Some(head.sequence), hash: head.hash };
    Options { head: Some(head), key: None }
}

#[test]
fn each_change_of_each_row_is_found_at_its_row() {
    for seed in 1..=2 {
        let (folder, path) = place();
        let head = fill(&path, 20, &mut Dice(seed * 77));
        let store = Connection::open(&path).unwrap();
        let mut cases = on_records(&store);
        cases.extend(on_contents(&store));
        cases.extend(on_texts(&store));
        cases.extend(on_loose_tables(&store));
        drop(store);
        assert!(verify(&path, known(head)).is_whole());
        let cases = sabotaged(folder.path(), &path, cases);
        assert!(cases.len() > 200, "{}", cases.len());
        let mut ours = Vec::new();
        for (path, case) in &cases {
            let report = verify(path, known(head));
            let first = first(&report).unwrap_or_else(|| panic!("not found: {}", case.sql));
            assert!(case.places.contains(first), "{}: {:?}, not {:?}", case.sql, report.faults, case.places);
            ours.push((format!("head {}", report.head), first.to_string(), &case.sql));
        }
        let files: Vec<&Path> = cases.iter().map(|(path, _)| path.as_path()).collect();
        let theirs = python(&["--head", &head.to_string()], &files);
        for ((head, first, sql), (their_head, their_first)) in ours.iter().zip(theirs) {
            assert_eq!(*head, their_head, "{sql}");
            assert_eq!(*first, their_first.split(": ").next().unwrap(), "{sql}: {their_first}");
        }
    }
}

/// A chain of these bodies, well hashed, whatever they say: what somebody could write who may write the file.
fn crafted(folder: &Path, name: &str, bodies: &[String]) -> PathBuf {
    let path = folder.join(name);
    drop(Store::open(&path, Durability::Normal, crate::store_common::entropy).unwrap());
    let store = Connection::open(&path).unwrap();
    let mut hash = framegate_guard::store::chain::Hash::default();
    let first = r#"{"seq":1,"time":1,"kind":"store","format":1,"id":"00","by":"me"}"#.to_owned();
    let first =
        if bodies.first().is_some_and(|body| body.contains("\"store\"")) { None } else { Some(first) };
    for (body, seq) in first.iter().chain(bodies).zip(1..) {
        hash = framegate_guard::store::chain::link(&hash, body);
        store.execute("INSERT INTO records VALUES (?1, ?2, ?3)", (seq, body, hash.0)).unwrap();
    }
    path
}

/// Both verifiers name the same place first.
fn agree(path: &Path) -> String {
    let report = verify(path, Options::default());
    let ours = first(&report).map_or("whole".to_owned(), ToString::to_string);
    let theirs = python(&[], &[path]).remove(0);
    assert_eq!(theirs.0, format!("head {}", report.head));
    assert_eq!(ours, theirs.1.split(": ").next().unwrap(), "{}: {}", path.display(), theirs.1);
    ours
}

#[test]
fn what_a_member_may_not_be_is_found_by_both_verifiers_at_its_row() {
    let (folder, _) = place();
    let hash = "0".repeat(64);
    let many = |count: usize| -> String {
        let fields: Vec<String> = (0..count).map(|at| format!("\"f{at}\":\"{hash}\"")).collect();
        let names: Vec<String> = (0..count).map(|at| format!("\"f{at}\"")).collect();
        format!("\"dropped\":[{}],\"x\":{{{}}}", names.join(","), fields.join(","))
    };
    let names = |count: usize| format!("[{}]", vec!["\"a\""; count].join(","));
    let call = |rest: &str| format!(r#"{{"seq":2,"time":1,"kind":"call",{rest}}}"#);
    let removed = |rest: &str| format!(r#"{{"seq":2,"time":1,"kind":"removed","why":"age",{rest}}}"#);
    let store =
        |format: &str| format!(r#"{{"seq":1,"time":1,"kind":"store","format":{format},"id":"","by":""}}"#);
    let deep = format!("\"a\":{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let cases = [
        (call(r#""x":[]"#), "record 2"),
        (call(r#""x":"a""#), "record 2"),
        (call(r#""x":["a"]"#), "record 2"),
        (call(r#""x":{"a":1}"#), "record 2"),
        (call(r#""x":{}"#), "record 2"),
        (call(&format!(r#""dropped":"a","x":{{"a":"{hash}"}}"#)), "record 2"),
        (call(&format!(r#""dropped":{{"a":1}},"x":{{"a":"{hash}"}}"#)), "record 2"),
        (call(&format!(r#""dropped":[["a"]],"x":{{"a":"{hash}"}}"#)), "record 2"),
        (call(&format!(r#""dropped":[1],"x":{{"a":"{hash}"}}"#)), "record 2"),
        (call(&many(64)), "whole"),
        (call(&many(65)), "record 2"),
        (call(&deep), "record 2"),
        (removed(r#""from":1,"to":1,"fields":[],"except":[]"#), "whole"),
        (removed(r#""from":1,"to":1,"except":[]"#), "record 2"),
        (removed(r#""from":1,"to":1,"fields":[]"#), "record 2"),
        (removed(r#""from":true,"to":1,"fields":[],"except":[]"#), "record 2"),
        (removed(r#""from":"1","to":1,"fields":[],"except":[]"#), "record 2"),
        (removed(r#""from":0,"to":1,"fields":[],"except":[]"#), "record 2"),
        (removed(r#""from":1,"to":true,"fields":[],"except":[]"#), "record 2"),
        (removed(r#""from":1,"to":2,"fields":[],"except":[]"#), "record 2"),
        (removed(r#""from":1,"to":1,"fields":[1],"except":[]"#), "record 2"),
        (removed(r#""from":1,"to":1,"fields":"a","except":[]"#), "record 2"),
        (removed(r#""from":1,"to":1,"fields":null,"except":[]"#), "record 2"),
        (removed(r#""from":1,"to":1,"fields":[],"except":"call""#), "record 2"),
        (removed(r#""from":1,"to":1,"fields":[],"except":{"a":1}"#), "record 2"),
        (removed(&format!(r#""from":1,"to":1,"fields":{},"except":[]"#, names(16))), "whole"),
        (removed(&format!(r#""from":1,"to":1,"fields":{},"except":[]"#, names(17))), "record 2"),
        (removed(&format!(r#""from":1,"to":1,"fields":[],"except":{}"#, names(17))), "record 2"),
        (store("1"), "whole"),
        (store("true"), "record 1"),
        (store("\"1\""), "record 1"),
        (store("2"), "record 1"),
        (store("-1"), "record 1"),
        (store("0"), "the file"),
        (r#"{"seq":18446744073709551615,"time":1,"kind":"call"}"#.to_owned(), "record 2"),
        (r#"{"seq":true,"time":1,"kind":"call"}"#.to_owned(), "record 2"),
        (r#"{"seq":2,"time":true,"kind":"call"}"#.to_owned(), "record 2"),
        (r#"{"seq":2,"time":1,"kind":["call"]}"#.to_owned(), "record 2"),
    ];
    for (at, (body, place)) in cases.iter().enumerate() {
        let path = crafted(folder.path(), &format!("{at}.db"), std::slice::from_ref(body));
        let shown: String = body.chars().take(200).collect();
        assert_eq!(agree(&path), *place, "{shown}");
    }
}

#[test]
fn an_empty_file_is_not_whole() {
    let (folder, path) = place();
    drop(Store::open(&path, Durability::Normal, crate::store_common::entropy).unwrap());
    let report = verify(&path, Options::default());
    assert_eq!(report.faults[0].what, framegate_guard::store::verify::EMPTY);
    assert_eq!(agree(&path), "the file");
    let lines = folder.path().join("r.jsonl");
    std::fs::write(&lines, "\n").unwrap();
    assert_eq!(first(&verify_lines(&[], Options::default())), Some(&Place::File));
    assert!(python(&[], &[&lines])[0].1.starts_with("the file: empty"));
}

#[test]
fn lines_in_another_form_are_refused_by_both_verifiers() {
    let (folder, path) = place();
    fill(&path, 3, &mut Dice(3));
    let whole = lines(&path);
    let kept = r#""contents":{"a":{"salt":"00000000000000000000000000000000","base64":"AB=="}}}"#;
    let more = |line: &str, rest: &str| format!("{},{rest}", line.strip_suffix('}').unwrap());
    let deep = format!(r#"{{"seq":2,"hash":"","body":{}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let first = whole[0].replacen("\"seq\":1,", "\"seq\":true,", 1);
    let cases = [
        (vec![first], "record 1"),
        (vec![whole[0].clone(), deep], "record 2"),
        (vec![more(&whole[0], kept)], "record 1"),
        (vec![more(&whole[0], r#""contents":[]}"#)], "record 1"),
        (vec![more(&whole[0], r#""contents":{"a":["salt","text"]}}"#)], "record 1"),
        (vec![more(&whole[0], r#""contents":{"a":{"salt":"","text":1}}}"#)], "record 1"),
        (vec![whole[0].replacen("\"seq\":1,", "\"seq\":9223372036854775808,", 1)], "record 1"),
    ];
    for (at, (changed, place)) in cases.iter().enumerate() {
        let file = folder.path().join(format!("{at}.jsonl"));
        std::fs::write(&file, changed.join("\n")).unwrap();
        let report = verify_lines(changed, Options::default());
        let ours = crate::store_common::first(&report).map_or("whole".to_owned(), ToString::to_string);
        assert_eq!(ours, *place, "{at}");
        let theirs = python(&[], &[&file]).remove(0);
        assert_eq!(theirs.1.split(": ").next().unwrap(), *place, "{at}: {}", theirs.1);
    }
}

#[test]
fn many_contents_of_one_record_take_no_square_of_their_number() {
    let (_folder, path) = place();
    fill(&path, 3, &mut Dice(3));
    let store = Connection::open(&path).unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO contents SELECT 2, 'f' || i, zeroblob(16), x'00', NULL FROM n";
    store.execute_batch(sql).unwrap();
    let begun = std::time::Instant::now();
    assert!(verify(&path, Options::default()).faults_count >= 60_000);
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
}

/// The store as JSON lines.
fn lines(path: &Path) -> Vec<String> {
    let reader = Store::open_read(path).unwrap();
    let rows: Vec<_> = reader.rows(..).map(Result::unwrap).collect();
    rows.iter().map(|row| line(row, &reader.contents(row.seq).unwrap())).collect()
}

fn verify_lines(lines: &[String], options: Options) -> framegate_guard::store::verify::Report {
    let text = lines.join("\n");
    framegate_guard::store::verify::verify(&mut Lines::new(text.as_bytes()), options, &mut NoWatch)
}

#[test]
fn json_lines_are_verified_as_the_file_is() {
    let (folder, path) = place();
    let head = fill(&path, 40, &mut Dice(5));
    let whole = lines(&path);
    let of_file = verify(&path, known(head));
    let of_lines = verify_lines(&whole, known(head));
    assert!(of_lines.is_whole(), "{:?}", of_lines.faults);
    assert_eq!(of_lines.head, of_file.head);
    assert_eq!(of_lines.counts.contents, of_file.counts.contents);
    let mut files = Vec::new();
    let mut ours = Vec::new();
    let mut note = |changed: Vec<String>, is_cut: bool| {
        let report = verify_lines(&changed, known(head));
        let place = first(&report).map_or("whole".to_owned(), ToString::to_string);
        assert!(!report.is_whole() && (is_cut || place.starts_with("record")), "{place}");
        let file = folder.path().join(format!("lines{}.jsonl", files.len()));
        std::fs::write(&file, changed.join("\n")).unwrap();
        files.push(file);
        ours.push(place);
    };
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed.remove(at);
        note(changed, at + 1 == whole.len());
        for (from, to) in [
            ("\"kind\":\"", "\"kind\":\"x"),
            ("\"hash\":\"", "\"hash\":\"0"),
            ("\"salt\":\"", "\"salt\":\"g"),
            ("\"text\":\"", "\"text\":\"!"),
            ("{", "{ "),
            ("\"contents\"", "\"more\""),
        ] {
            if whole[at].contains(from) {
                let mut changed = whole.clone();
                changed[at] = whole[at].replacen(from, to, 1);
                note(changed, false);
            }
        }
        let mut changed = whole.clone();
        let half = (1..whole[at].len() / 2).rev().find(|half| whole[at].is_char_boundary(*half)).unwrap();
        changed[at].truncate(half);
        note(changed, false);
    }
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    for ((ours, theirs), file) in ours.iter().zip(python(&["--head", &head.to_string()], &paths)).zip(&files)
    {
        assert_eq!(*ours, theirs.1.split(": ").next().unwrap(), "{}: {}", file.display(), theirs.1);
    }
}

#[test]
fn a_cut_end_is_known_by_a_head_that_was_seen() {
    let (_folder, path) = place();
    let before = fill(&path, 5, &mut Dice(9));
    let head = fill(&path, 5, &mut Dice(10));
    assert!(verify(&path, known(before)).is_whole(), "a later head is fine");
    assert!(verify(&path, known(head)).is_whole());
    let hash_only = Options { head: Some(before.hash.to_string().parse().unwrap()), key: None };
    assert!(verify(&path, hash_only).is_whole());
    let wrong_number = KnownHead { seq: Some(before.sequence + 1), hash: before.hash };
    assert!(!verify(&path, Options { head: Some(wrong_number), key: None }).is_whole());
    let store = Connection::open(&path).unwrap();
    store.execute_batch(&format!("DELETE FROM records WHERE seq > {0}; DELETE FROM contents WHERE seq > {0}; DELETE FROM texts WHERE id NOT IN (SELECT text FROM contents WHERE text IS NOT NULL)", before.sequence + 1)).unwrap();
    assert!(verify(&path, Options::default()).is_whole(), "a prefix is a chain");
    assert!(verify(&path, known(before)).is_whole());
    let report = verify(&path, known(head));
    assert_eq!(first(&report), Some(&Place::File));
    assert!(report.faults[0].what.contains("end was cut"));
}

#[test]
fn what_was_removed_on_purpose_is_no_loss_and_the_rest_is() {
    let (_folder, path) = place();
    fill(&path, 60, &mut Dice(21));
    let mut store = Store::open(&path, Durability::Normal, crate::store_common::entropy).unwrap();
    let redact = Removal { from: 5, to: 20, fields: &["arguments"], except: &[], why: "redact" };
    assert!(store.remove(&redact, Instant(5)).unwrap() > 0);
    let age = Removal { from: 1, to: 40, fields: &[], except: &EXCEPT, why: "age" };
    assert!(store.remove(&age, Instant(5)).unwrap() > 0);
    drop(store);
    let agree = |expected: Option<&Place>| {
        let report = verify(&path, Options::default());
        assert_eq!(first(&report), expected, "{:?}", report.faults);
        let theirs = python(&[], &[&path]).remove(0);
        assert_eq!(theirs.0, format!("head {}", report.head));
        let place = expected.map_or("whole".to_owned(), ToString::to_string);
        assert_eq!(theirs.1.split(": ").next().unwrap(), place);
    };
    agree(None);
    // Of a kind that was excepted, in the range; then one beyond it.
    let store = Connection::open(&path).unwrap();
    assert!(!numbers(&store, "SELECT seq FROM contents WHERE seq <= 40").is_empty());
    for after in [40, 0] {
        let sql = "SELECT seq, field FROM contents WHERE seq > ?1 ORDER BY seq, field LIMIT 1";
        let found =
            store.query_row(sql, [after], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
        let (seq, field) = found.unwrap();
        store.execute("DELETE FROM contents WHERE seq = ?1 AND field = ?2", (seq, &field)).unwrap();
        agree(Some(&content(seq, &field)));
    }
}
