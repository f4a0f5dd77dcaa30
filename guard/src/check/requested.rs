//! `user_asked_to_…`: the user asked for this kind of action, in their own words.

use super::values;
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::session::Session;
use crate::words::{self, Intent};

/// How the check's name begins; what was to be asked for follows.
pub(crate) const NAME: &str = "user_asked_to_";

/// Intents and phrases that a reason tells.
const TOLD_MAX: usize = 8;

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
        let told = |intent: &Intent| {
            let name = intent.name();
            if Intent::NAMES.contains(&name) { name.to_owned() } else { values::quoted(name) }
        };
        let mut what: Vec<String> = request.intents.iter().take(TOLD_MAX).map(told).collect();
        if request.intents.len() > TOLD_MAX {
            what.push(format!("{} more", request.intents.len() - TOLD_MAX));
        }
        let what = what.join(" or ");
        let reason = format!("the user did not ask for this kind of action ({what}) in their own words");
        findings.push(Finding::new(&name, request.otherwise.into(), NextStep::AskFirst, reason));
    }
}
