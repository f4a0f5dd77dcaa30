//! What real clients and servers write passes, all of it.

use framegate_pump::envelope::peek;

use super::*;

#[test]
fn every_recorded_line_of_a_real_peer_passes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/transcripts");
    let (mut ours, mut theirs) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let frame = frame(format!("{}\n", line["raw"].as_str().unwrap()));
            if line["dir"] == "c2s" {
                ours += 1;
                let read = client_frame(&frame, &Limits::default());
                assert!(matches!(read, Ok(Some(_))), "{}: {read:?} for {frame:?}", path.display());
            } else {
                theirs += 1;
                let passes = server_frame(&frame, peek(frame.body()).kind);
                assert!(passes.is_ok(), "{}: {passes:?} for {frame:?}", path.display());
            }
        }
    }
    assert!(ours > 500 && theirs > 500, "{ours} and {theirs}");
}
