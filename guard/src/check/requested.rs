//! `user_asked_to_…`: the user asked for this kind of action, in their own words.

use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::session::Session;
use crate::words;

/// How the check's name begins; what was to be asked for follows.
pub(crate) const NAME: &str = "user_asked_to_";

/// Judges by all that the user said.
pub(crate) fn check(options: &Provenance, session: &Session, findings: &mut Vec<Finding>) {
    let Some(request) = &options.request else { return };
    let name = format!("{NAME}{}", request.name);
    if !session.knows_user() {
        let why = "nobody told what the user said, so whether they asked for it is not known";
        findings.push(Finding::new(&name, Effect::Unevaluated, NextStep::NotEvaluated, why));
        return;
    }
    let conversation = session.conversation();
    let said = conversation.user_request();
    if !request.intents.iter().any(|intent| words::asks_for(intent, said)) {
        let reason =
            format!("the user did not ask for this kind of action ({}) in their own words", request.what);
        findings.push(Finding::new(&name, request.otherwise.into(), NextStep::AskFirst, reason));
    }
}
