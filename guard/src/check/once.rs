//! `not_made_before`: a call is made once; the same again is for a person to decide.

use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;

/// The check's name.
pub(crate) const NAME: &str = "not_made_before";

/// `was_made`: this very call, the schema's defaults filled in, was sent before and is not known to have failed.
pub(crate) fn check(options: &Provenance, was_made: Option<bool>, findings: &mut Vec<Finding>) {
    if !options.once {
        return;
    }
    match was_made {
        Some(false) => {}
        Some(true) => {
            let reason = "this call, with exactly these arguments, was made before or is under way, and is to be made once";
            findings.push(Finding::new(NAME, Effect::Ask, NextStep::DoNotRepeat, reason));
        }
        None => {
            let why = "filling in the schema's defaults is too much work, so whether this call was made before is not known";
            findings.push(Finding::new(NAME, Effect::Unevaluated, NextStep::NotEvaluated, why));
        }
    }
}
