//! All tests of the guard in one program. With a program for each file everything was linked thirty times, and a disk filled up.

mod agent;
mod budget;
mod decide_speed;
mod definitions;
mod detect;
mod engine;
mod flow_properties;
mod fuzz_corpus;
mod ground;
mod oracle_coerce;
mod oracle_conversation;
mod oracle_guard;
mod oracle_rows;
mod policies;
mod policy_reference;
mod programs;
mod properties_conversation;
mod properties_provenance;
mod prove;
mod prove_common;
mod prove_native;
mod prove_sound;
mod prove_walked;
mod prove_windows;
mod provenance;
mod replay;
#[cfg(feature = "sqlite")]
mod replay_store;
mod schema_rows;
mod schema_speed;
mod state;
mod state_common;
mod state_model;
#[cfg(feature = "sqlite")]
mod store_common;
#[cfg(feature = "sqlite")]
mod store_damage;
#[cfg(feature = "sqlite")]
mod store_read;
#[cfg(all(feature = "sqlite", feature = "sign"))]
mod store_retain;
#[cfg(feature = "sqlite")]
mod store_sabotage;
#[cfg(feature = "sqlite")]
mod store_write;
mod words;

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
