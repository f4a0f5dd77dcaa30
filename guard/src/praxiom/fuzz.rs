//! For the fuzz target: any text is read or refused, and what is read decides without a panic, the same twice.

use super::{Call, Dialect, Praxiom, Verdict};
use crate::json::{Document, Limits};

/// The first line is the arguments' text, the rest the file. Panics when something does not hold.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let cut = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
    let (arguments, file) = bytes.split_at(cut);
    if let Ok(text) = str::from_utf8(file) {
        let _ = Praxiom::looks_like(text);
    }
    let document = Document::read(arguments.to_vec().into(), &Limits::default()).ok();
    for dialect in [Dialect::Safe, Dialect::Original] {
        match Praxiom::load("fuzz.yaml", file, dialect) {
            Err(errors) => assert!(!errors.to_string().is_empty(), "refused without a word"),
            Ok(policy) => calls(&policy, document.as_ref()),
        }
    }
}

fn calls(policy: &Praxiom, document: Option<&Document>) {
    let mut state = policy.initial();
    for tool in ["t__f", "t__g", "u__f"] {
        let call = Call { tool, upstream: "t", arguments: document.map(Document::root) };
        let verdict = policy.decide(&state, &call, &[]);
        assert!(verdict == policy.decide(&state, &call, &[]), "one call, two verdicts");
        let names: Vec<&str> = policy.variables().map(|(name, _)| name).collect();
        let hidden = policy.decide(&state, &call, &names);
        if let Verdict::Allow(seen) = &hidden {
            assert!(
                matches!(&verdict, Verdict::Allow(open) if open.next == seen.next),
                "hiding state allows"
            );
        }
        if let Verdict::Allow(allowed) = verdict {
            let kept = policy.decode(&policy.encode(&allowed.next));
            assert!(kept.is_ok_and(|kept| kept == allowed.next), "a kept state is another");
            state = allowed.next;
            if let Some(observed) = policy.answer(&state, &call, "a result") {
                state = policy.lost(&observed.next, &call);
            }
        }
    }
}
