//! Several processes of one session, as far as the file can tell: each has a lease and connections of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use framegate_guard::ledger::{Declared, Ended, SessionKey, Settled, Shared, Snapshot, Step};
use framegate_guard::policy::Policy;
use framegate_guard::session::{Origin, OutputKind, Session};
use framegate_guard::store::keep::Keep;
use framegate_guard::{Call, Facts, Guard, json};
use rusqlite::Connection;

use super::file::beside;
use super::{Joining, SharedPast};
use crate::bridge::Disk;

fn join(record: &Path, session: &str, server: &str) -> SharedPast {
    let key = SessionKey { principal: "p".into(), name: session.into() };
    let (is_full, keep, is_private) = (false, Keep::Full, false);
    SharedPast::join(Joining { record, key, server, is_full, keep, is_private }).unwrap()
}

/// What decides: all is let through, and whether the call was made before is noted.
struct Caller(Guard);

impl Caller {
    fn new() -> Caller {
        Caller::under("")
    }

    fn under(policy: &str) -> Caller {
        let text = format!("framegate: 1\ndefault: allow\ndefaults: {{ arguments: unchecked }}\n{policy}");
        let policy = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
        Caller(Guard::new(policy, "s", Facts::default()))
    }

    /// What is known of a variable when a call is decided that is not sent.
    fn sees(&self, past: &SharedPast, name: &str) -> String {
        let mut seen = String::new();
        let mut decide = |before: &Snapshot<'_>| {
            let none = json::Document::empty_object();
            let call = Call { tool: "look", id: None, arguments: none.root() };
            let decision = self.0.decide(&call, &Session::default(), before, &Disk::new(Path::new(".")));
            let noted = decision.state.as_ref().unwrap();
            let found = noted.before.iter().find(|(other, _)| &**other == name);
            seen = found.map(|(_, seen)| seen.belief.to_string()).unwrap();
            Step { decision: Arc::new(decision), is_sent: false, record: None }
        };
        past.step_with(&mut decide, |number, _| number).unwrap();
        seen
    }

    /// The step of a call, and whether it was made before. `waits`: off the pump's thread.
    fn call(&self, past: &SharedPast, n: usize, waits: bool) -> (u64, bool) {
        let arguments = json::Document::read(format!("[{n}]").into(), &json::Limits::default()).unwrap();
        let mut made = false;
        let mut decide = |before: &Snapshot<'_>| {
            let call = Call { tool: "t", id: None, arguments: arguments.root() };
            let decision = self.0.decide(&call, &Session::default(), before, &Disk::new(Path::new(".")));
            made = before.is_made(&decision.made_as);
            Step { decision: Arc::new(decision), is_sent: true, record: None }
        };
        let number = match waits {
            true => past.step_with(&mut decide, |number, _| number).unwrap(),
            false => past.try_step_with(&mut decide, |number, _| number).unwrap().unwrap(),
        };
        (number, made)
    }
}

/// Numbers that come again with the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[test]
fn any_number_of_processes_remember_as_one_would() {
    const CALLS: usize = 4;
    let (folder, caller) = (tempfile::tempdir().unwrap(), Caller::new());
    let record = folder.path().join("r.db");
    let mut random = Random(7);
    let mut processes: Vec<SharedPast> = (0..3).map(|_| join(&record, "s", "one")).collect();
    // How often each call counts, and those under way by the process that made them.
    let (mut made, mut open): (HashMap<usize, u32>, BTreeMap<(usize, u64), usize>) = Default::default();
    for _ in 0..600 {
        let (at, n) = (random.below(processes.len()), random.below(CALLS));
        let mine: Vec<(usize, u64)> = open.keys().filter(|(of, _)| *of == at).copied().collect();
        let one = mine.get(random.below(mine.len().max(1))).copied();
        match (random.below(20), one) {
            (0, _) => {
                // Killed: what it had under way counts for ever.
                processes[at] = join(&record, "s", "one");
                open.retain(|(of, _), _| *of != at);
            }
            (1, _) => {
                processes[at].finish();
                processes[at] = join(&record, "s", "one");
                open.retain(|(of, _), _| *of != at);
            }
            (2..8, Some(key)) => {
                let how = [Settled::Done, Settled::Failed, Settled::Lost][random.below(3)];
                processes[at].settle(key.1, &Ended::without_answer(how)).unwrap();
                let n = open.remove(&key).unwrap();
                if how == Settled::Failed {
                    *made.get_mut(&n).unwrap() -= 1;
                }
            }
            (8..10, Some(key)) => {
                processes[at].undo(key.1);
                *made.get_mut(&open.remove(&key).unwrap()).unwrap() -= 1;
            }
            (way, _) => {
                let (number, was_made) = caller.call(&processes[at], n, way % 2 == 0);
                assert_eq!(was_made, made.get(&n).copied().unwrap_or_default() > 0, "{n} of {made:?}");
                *made.entry(n).or_default() += 1;
                assert!(open.insert((at, number), n).is_none());
            }
        }
    }
    caller.call(&processes[0], 0, false);
    let there = |sql: &str| -> i64 {
        Connection::open(beside(&record)).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(there("SELECT count(*) FROM open"), i64::try_from(open.len() + 1).unwrap());
}

fn declared(name: &str, says: &str) -> Declared {
    Declared { name: name.into(), is_stores: says.starts_with("store"), says: says.into() }
}

#[test]
fn policies_of_one_session_declare_a_variable_alike() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.db");
    let (one, two, other) = (join(&record, "s", "one"), join(&record, "s", "two"), join(&record, "t", "one"));
    let (int, text) = (declared("spent", "an int, 0 at first"), declared("spent", "a string, \"\" at first"));
    one.declare("one.yaml", &[int.clone(), declared("a", "a bool")]).unwrap();
    two.declare("two.yaml", &[int.clone(), declared("b", "a bool")]).unwrap();
    let why = two.declare("next.yaml", std::slice::from_ref(&text)).unwrap_err();
    for part in ["`spent`", "`one.yaml` as an int, 0 at first", "`next.yaml` as a string"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    other.declare("other.yaml", std::slice::from_ref(&text)).unwrap();
    // What is the store's is every session's.
    let stored = declared("all", "store: an int");
    one.declare("one.yaml", &[int, stored.clone()]).unwrap();
    other.declare("other.yaml", &[declared("all", "store: a bool")]).unwrap_err();
    other.declare("other.yaml", &[stored]).unwrap();
    // What was declared before, or by who is gone, binds nobody.
    two.declare("two.yaml", &[]).unwrap();
    one.finish();
    two.declare("two.yaml", &[text]).unwrap();
}

fn tell(past: &SharedPast, text: &str) {
    let origin = Origin::new(OutputKind::Result, "t").called_with("{}".into());
    past.tell(Shared { origin: &origin, text: Some(text) });
}

#[test]
fn what_is_told_is_heard_once_by_each_other_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.db");
    let (one, two) = (join(&record, "s", "one"), join(&record, "s", "two"));
    let texts = |past: &SharedPast| -> Vec<String> {
        let heard = past.overheard().unwrap();
        heard.into_iter().map(|one| format!("{} {}", one.origin.name, one.text.unwrap_or_default())).collect()
    };
    tell(&one, "a");
    tell(&two, "b");
    tell(&one, "c");
    assert_eq!(texts(&two), ["one/t a", "one/t c"]);
    assert_eq!((texts(&two).len(), texts(&one)), (0, vec!["two/t b".to_owned()]));
    let late = join(&record, "s", "late");
    assert_eq!(texts(&late), ["one/t a", "two/t b", "one/t c"]);
    assert_eq!(texts(&join(&record, "t", "late")).len(), 0);
}

#[test]
fn outputs_beyond_the_limit_go_and_who_has_not_read_them_knows_that_there_were_some() {
    use super::said::{KEPT_BYTES_MAX, KEPT_MAX, drop_oldest};
    for (count, bytes, lost) in [
        (KEPT_MAX - 1, 1, 0),
        (KEPT_MAX, 1, 0),
        (KEPT_MAX + 1, 1, 1),
        (2, KEPT_BYTES_MAX / 2 - 1, 0),
        (2, KEPT_BYTES_MAX / 2, 0),
        (2, KEPT_BYTES_MAX / 2 + 1, 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("r.db");
        let (one, two) = (join(&record, "s", "one"), join(&record, "s", "two"));
        assert_eq!(two.overheard().unwrap().len(), 0);
        let mut connection = Connection::open(beside(&record)).unwrap();
        let step = connection.transaction().unwrap();
        let insert = "INSERT INTO said (session, lease, bytes, server, kind, name, text) \
                      VALUES (1, 1, ?1, 'one', 'result', 't', 'x')";
        (0..count).for_each(|_| assert_eq!(step.execute(insert, [bytes]).unwrap(), 1));
        drop_oldest(&step, 1).unwrap();
        step.commit().unwrap();
        let heard = two.overheard().unwrap();
        let unknown = heard.iter().filter(|one| one.text.is_none()).count();
        assert_eq!((unknown, i64::try_from(heard.len()).unwrap()), (lost, count), "{count} of {bytes}");
        assert_eq!(two.overheard().unwrap().len(), 0);
        one.finish();
    }
}

#[test]
fn a_step_that_cannot_be_committed_leaves_nothing() {
    let (folder, caller) = (tempfile::tempdir().unwrap(), Caller::new());
    let record = folder.path().join("r.db");
    let one = join(&record, "s", "one");
    let connection = Connection::open(beside(&record)).unwrap();
    connection.execute_batch("ALTER TABLE made RENAME TO elsewhere").unwrap();
    let mut decide = |_: &Snapshot<'_>| -> Step {
        let none = json::Document::empty_object();
        let call = Call { tool: "t", id: None, arguments: none.root() };
        let session = Session::default();
        let decision = caller.0.decide(&call, &session, &Snapshot::nothing(), &Disk::new(Path::new(".")));
        Step { decision: Arc::new(decision), is_sent: true, record: None }
    };
    assert!(one.try_step_with(&mut decide, |number, _| number).unwrap().is_err());
    connection.execute_batch("ALTER TABLE elsewhere RENAME TO made").unwrap();
    let count: i64 = connection.query_row("SELECT count(*) FROM open", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
    assert!(!caller.call(&one, 1, false).1);
    assert!(caller.call(&one, 1, true).1);
    // Nor does one whose decision panics, and what waited for it waits still.
    one.undo(caller.call(&one, 9, false).0);
    let broken = std::panic::AssertUnwindSafe(|| {
        drop(one.try_step_with(&mut |_| panic!("a decision"), |number, _| number));
    });
    std::panic::catch_unwind(broken).unwrap_err();
    assert!(caller.call(&one, 1, false).1);
    assert!(!caller.call(&one, 9, false).1);
    let numbers: BTreeSet<u64> = (0..3).map(|n| caller.call(&one, n, false).0).collect();
    assert_eq!(numbers.len(), 3);
}

/// A window that each call adds to.
const COUNTS: &str =
    "state: { calls: { type: window, per: day } }\nrules: [ { name: counts, set: { calls: 1 } } ]\n";

fn rows(record: &Path, sql: &str) -> i64 {
    Connection::open(beside(record)).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn any_number_of_processes_count_in_one_window() {
    let caller = Caller::under(&COUNTS.replace("set: { calls: 1 }", "set: { calls: 1 }, on_error: undo"));
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.db");
    let mut random = Random(11);
    let mut processes: Vec<SharedPast> = (0..3).map(|_| join(&record, "s", "one")).collect();
    let (mut count, mut open) = (0, Vec::<(usize, u64)>::new());
    for n in 0..400 {
        let at = random.below(processes.len());
        let one = open.iter().position(|(of, _)| *of == at);
        match (random.below(20), one) {
            (0, _) => {
                // Killed, or ended: what it had under way counts.
                if n % 2 == 0 {
                    processes[at].finish();
                }
                processes[at] = join(&record, "s", "one");
                open.retain(|(of, _)| *of != at);
            }
            (way @ 1..10, Some(place)) => {
                let (_, number) = open.remove(place);
                match way {
                    1..5 => {
                        processes[at].settle(number, &Ended::without_answer(Settled::Done)).map(drop).unwrap()
                    }
                    5..8 => processes[at]
                        .settle(number, &Ended::without_answer(Settled::Failed))
                        .map(drop)
                        .unwrap(),
                    _ => processes[at].undo(number),
                }
                count -= i64::from(way >= 5);
            }
            (way, _) => {
                open.push((at, caller.call(&processes[at], n, way % 2 == 0).0));
                count += 1;
            }
        }
        let looks = random.below(processes.len());
        assert_eq!(caller.sees(&processes[looks], "calls"), count.to_string(), "{n}");
    }
    assert!(count > 50);
    assert_eq!(rows(&record, "SELECT count(*) FROM entries"), count);
    assert_eq!(rows(&record, "SELECT count(*) FROM remembered"), 1);
    assert_eq!(caller.sees(&join(&record, "t", "one"), "calls"), "0");
}

/// A policy that is read anew may say that what was the session's is the store's now, while calls are under way.
#[test]
fn a_window_that_becomes_the_stores_leaves_that_of_the_session_as_it_can_be_read() {
    let counts = COUNTS.replace("set: { calls: 1 }", "set: { calls: 1 }, on_error: undo");
    let (ours, stores) =
        (Caller::under(&counts), Caller::under(&counts.replace("day }", "day, scope: store }")));
    let folder = tempfile::tempdir().unwrap();
    let past = join(&folder.path().join("r.db"), "s", "one");
    let declare = |caller: &Caller| {
        let declared: Vec<Declared> = caller.0.policy().declared().collect();
        past.declare("p.yaml", &declared).unwrap();
    };
    declare(&ours);
    let open: Vec<u64> = (0..3).map(|n| ours.call(&past, n, false).0).collect();
    declare(&stores);
    (0..2).for_each(|n| assert!(!stores.call(&past, 10 + n, false).1));
    past.settle(open[1], &Ended::without_answer(Settled::Failed)).unwrap();
    stores.call(&past, 12, false);
    for (caller, of) in [(&ours, "ours"), (&stores, "the store's"), (&ours, "ours once more")] {
        declare(caller);
        let count: u32 = caller.sees(&past, "calls").parse().unwrap();
        assert!(count >= 3, "{of}: {count}");
        caller.call(&past, 20, false);
        assert_eq!(caller.sees(&past, "calls"), (count + 1).to_string(), "{of}");
    }
}

/// Puts a window as the first format has it: all in one.
fn put_whole(record: &Path, entries: u64) {
    let now = u64::try_from(super::now_ms()).unwrap() * 1000;
    let window: Vec<serde_json::Value> =
        (0..entries).map(|n| serde_json::json!([now - 10_000 + n, "1", 1])).collect();
    let value = serde_json::json!({ "by": 1, "is": { "window": window } }).to_string();
    let connection = Connection::open(beside(record)).unwrap();
    connection.execute("UPDATE clock SET version = version + 1", []).unwrap();
    let insert = "INSERT INTO remembered (principal, session, name, value, version) \
                  SELECT 'p', 1, 'calls', ?1, version FROM clock";
    connection.execute(insert, [value]).unwrap();
}

#[test]
fn a_file_of_the_first_format_is_made_one_of_this_with_all_that_it_remembers() {
    let (folder, caller) = (tempfile::tempdir().unwrap(), Caller::under(COUNTS));
    let record = folder.path().join("r.db");
    join(&record, "s", "one").finish();
    put_whole(&record, 7);
    let change = |sql: &str| Connection::open(beside(&record)).unwrap().execute_batch(sql).unwrap();
    change("DROP TABLE entries; PRAGMA user_version = 1");
    let one = join(&record, "s", "one");
    assert_eq!(caller.sees(&one, "calls"), "7");
    caller.call(&one, 1, false);
    assert_eq!(
        (caller.sees(&one, "calls"), caller.sees(&join(&record, "s", "two"), "calls")),
        ("8".into(), "8".into())
    );
    assert_eq!(rows(&record, "SELECT count(*) FROM entries"), 8);
    assert_eq!(rows(&record, "PRAGMA user_version"), 2);
    // Nobody guesses at what another program wrote.
    let why = |sql: &str| {
        change(sql);
        let key = SessionKey { principal: "p".into(), name: "s".into() };
        let (is_full, keep, is_private) = (false, Keep::Full, false);
        SharedPast::join(Joining { record: &record, key, server: "one", is_full, keep, is_private })
            .unwrap_err()
    };
    let newer = why("PRAGMA user_version = 3");
    assert!(
        newer.contains("a newer version wrote it (format 3, and this one knows 2): use that one"),
        "{newer}"
    );
    let other = why("PRAGMA user_version = 2; PRAGMA application_id = 7");
    assert!(other.contains("it is none of this program's; when no session runs, remove it"), "{other}");
}

#[test]
fn an_entry_that_is_missing_is_told_and_nothing_is_decided() {
    let (folder, caller) = (tempfile::tempdir().unwrap(), Caller::under(COUNTS));
    let record = folder.path().join("r.db");
    let one = join(&record, "s", "one");
    (0..3).for_each(|n| assert!(!caller.call(&one, n, false).1));
    Connection::open(beside(&record)).unwrap().execute("DELETE FROM entries WHERE number = 1", []).unwrap();
    let two = join(&record, "s", "two");
    let why = two.step_with(&mut |_| panic!("it was decided"), |number, _| number).unwrap_err();
    assert!(why.0.contains("`calls` cannot be read"), "{why}");
}

#[test]
fn what_a_process_that_is_gone_added_to_a_window_is_unknown_until_it_counts_no_more() {
    let caller = Caller::under(&COUNTS.replace("set:", "after:"));
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.db");
    let one = join(&record, "s", "one");
    caller.call(&one, 1, false);
    drop(one);
    let two = join(&record, "s", "two");
    for past in [&two, &join(&record, "s", "three")] {
        let seen = caller.sees(past, "calls");
        assert!(seen.starts_with("unknown (a call of `t` got no answer; known again from 20"), "{seen}");
    }
    assert_eq!(rows(&record, "SELECT count(*) FROM entries"), 1);
}

#[test]
fn who_does_not_declare_what_is_the_stores_leaves_it_to_who_does() {
    let stored = COUNTS.replace("day }", "day, scope: store }, other: int").replace("set:", "after:");
    let (caller, stranger) = (Caller::under(&stored), Caller::under("state: { mine: int }\n"));
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.db");
    let join = |server: &str, caller: &Caller| {
        let past = join(&record, "s", server);
        let declared: Vec<Declared> = caller.0.policy().declared().collect();
        past.declare(&format!("{server}.yaml"), &declared).unwrap();
        past
    };
    let one = join("one", &caller);
    for n in 0..3 {
        let said = caller.call(&one, n, false).0;
        one.settle(said, &Ended::without_answer(Settled::Done)).unwrap();
    }
    caller.call(&one, 9, false);
    drop(one);
    let two = join("two", &stranger);
    (0..3).for_each(|n| assert!(!stranger.call(&two, n, false).1));
    assert_eq!(rows(&record, "SELECT count(*) FROM entries"), 3);
    let three = join("three", &caller);
    assert!(caller.sees(&three, "calls").contains("a call of `t` got no answer"));
    assert_eq!(rows(&record, "SELECT count(*) FROM entries"), 4);
    assert_eq!(rows(&record, "SELECT count(*) FROM open WHERE flight IS NOT NULL"), 0);
}

/// How long a step and its end take, in microseconds.
fn step_us(caller: &Caller, past: &SharedPast, steps: usize) -> u128 {
    let begun = std::time::Instant::now();
    for n in 0..steps {
        let (number, _) = caller.call(past, n, false);
        past.settle(number, &Ended::without_answer(Settled::Done)).unwrap();
    }
    begun.elapsed().as_micros() / u128::try_from(steps).unwrap()
}

/// `cargo nextest run -p framegate --run-ignored only --no-capture a_step_costs`
#[test]
#[ignore = "it measures"]
fn a_step_costs_what_it_adds_to_a_window_and_not_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, counting) = (Caller::new(), Caller::under(COUNTS));
    let none = join(&folder.path().join("none.db"), "s", "one");
    println!("no window: {} µs a step", step_us(&plain, &none, 500));
    for entries in [0, 100, 1_000, 9_900] {
        let record = folder.path().join(format!("{entries}.db"));
        let past = join(&record, "s", "one");
        put_whole(&record, entries);
        let first = step_us(&counting, &past, 1);
        println!(
            "a window of {entries}: {first} µs the first step, {} µs a step",
            step_us(&counting, &past, 50)
        );
        let other = join(&record, "s", "two");
        let joining = step_us(&counting, &other, 1);
        let turns: u128 = (0..20).map(|_| step_us(&counting, &past, 1) + step_us(&counting, &other, 1)).sum();
        println!(
            "  two processes in turn: {} µs a step; the first step of the second {joining} µs",
            turns / 40
        );
    }
}
