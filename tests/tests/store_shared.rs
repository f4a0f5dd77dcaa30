//! Several processes, one store; and two proxies one behind the other.

use std::collections::BTreeMap;
use std::ffi::OsString;

use framegate_tests::guarded::{Start, call};
use framegate_tests::{Guarded, Stored};
use serde_json::json;

const POLICY: &str = "framegate: 1\ntools: { touch: {} }\n";
/// Calls of each session.
const CALLS: usize = 300;

fn start(file: &str, options: &[&str]) -> Guarded {
    let options = [&["--store", file], options].concat();
    let wrapper = framegate_tests::wrapper!();
    Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script: json!([]), files: &[] }.now()
}

#[test]
fn three_processes_share_one_store_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    std::thread::scope(|scope| {
        for (at, durability) in ["normal", "normal", "full"].into_iter().enumerate() {
            let file = &file;
            scope.spawn(move || {
                let name = format!("server-{at}");
                let mut guarded = start(file, &["--quiet", "--name", &name, "--durability", durability]);
                guarded.open();
                let frames: Vec<String> = (0..CALLS).map(|id| call(&id.to_string(), "touch", "{}")).collect();
                guarded.send(&frames.join("\n"));
                (0..CALLS).for_each(|id| {
                    let answer = guarded.wait(&id.to_string());
                    assert_eq!(answer["result"]["content"][0]["text"], "ran touch", "{answer}");
                });
                guarded.end();
            });
        }
    });
    let stored = Stored::read(std::path::Path::new(&file)).unwrap();
    let mut calls: BTreeMap<u64, usize> = BTreeMap::new();
    for call in stored.of("call") {
        *calls.entry(call["session"].as_u64().unwrap()).or_default() += 1;
        assert_eq!(stored.end_of(call).unwrap()["session"], call["session"]);
    }
    assert_eq!(calls.values().copied().collect::<Vec<_>>(), [CALLS; 3]);
    assert_eq!(stored.of("close").count(), 3);
    assert_eq!(stored.of("store").count(), 1);
}

#[test]
fn two_proxies_record_the_same_call_each_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("inner.yaml"), POLICY).unwrap();
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let inner: Vec<OsString> = ["run", "--quiet", "--policy"].map(OsString::from).to_vec();
    let wrapper = framegate_tests::wrapper!();
    let file = path("record.db");
    let outer =
        ["--store".into(), file.clone().into_os_string(), "--policy".into(), path("inner.yaml").into()];
    let wrapper = wrapper.with_options(outer).behind(
        [
            vec![own.into()],
            inner,
            vec![path("inner.yaml").into(), "--store".into(), file.clone().into(), "--".into()],
        ]
        .concat(),
    );
    let start = Start { wrapper: &wrapper, policy: None, options: &[], script: json!([]), files: &[] };
    let mut guarded = start.now();
    guarded.open();
    assert_eq!(guarded.call("1", "touch", "{}")["result"]["content"][0]["text"], "ran touch");
    guarded.end();
    let stored = Stored::read(&file).unwrap();
    let calls: Vec<_> = stored.of("call").collect();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0]["session"], calls[1]["session"]);
    assert!(calls.iter().all(|call| stored.end_of(call).unwrap()["how"] == "done"));
}
