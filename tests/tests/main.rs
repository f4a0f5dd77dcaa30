//! All tests with real processes in one program. With a program for each file everything was linked forty times, and a disk filled up.

mod answers;
mod ask_legacy;
mod ask_modern;
mod ask_shared;
mod ask_terminal;
mod cases;
mod conformance;
mod context;
mod examples;
mod form_legacy;
mod form_modern;
mod guard_cases;
mod import_proxy;
mod peers;
mod peers_asked;
mod peers_forms;
mod peers_guarded;
mod peers_poisoned;
mod peers_praxiom;
mod policy_cases;
mod policy_cases_run;
mod policy_results;
mod policy_run;
mod policy_settings;
mod praxiom_run;
mod programs_run;
mod prove;
mod readers_agree;
mod run;
mod secrets;
mod session_heard;
mod session_praxiom;
mod session_shared;
mod session_state;
mod smuggling_guarded;
mod smuggling_passes_bare;
mod state_replay;
mod state_run;
mod store_asked;
mod store_failures;
mod store_kept;
mod store_kill;
mod store_log;
mod store_run;
mod store_shared;
mod support;
mod transcripts;

/// A file that nobody names here would never be compiled, and its tests would pass for ever.
#[test]
fn every_file_of_tests_is_named() {
    let named = include_str!("main.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_code =
            path.extension().is_some_and(|extension| extension == "rs") || path.join("mod.rs").exists();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            !is_code || name == "main" || named.contains(&format!("\nmod {name};\n")),
            "{name} is not in main.rs"
        );
    }
}
