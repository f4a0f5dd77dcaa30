//! The checks of where values come from, in the order in which they decide.

use super::env::CallEnv;
use super::{confirmed, followed, grounded, injected, instructions, once, requested, tool_values, trail};
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::policy::provenance::Instructions;
use crate::rust_matcher::RustMatcher;

/// What the checks look at.
pub(crate) struct Input<'i, 'a> {
    pub(crate) env: &'i CallEnv<'a>,
    pub(crate) options: &'i Provenance,
    pub(crate) matchers: &'a [RustMatcher],
    /// The arguments can be read as what the schema says.
    pub(crate) are_valid: bool,
    /// This very call was made before; nothing where it cannot be said which call this is.
    pub(crate) was_made: Option<bool>,
    /// What the server says of the tool.
    pub(crate) is_read_only: Option<bool>,
}

/// All of them. Where the arguments are not valid, only those that read none.
pub(crate) fn check(input: &Input<'_, '_>, findings: &mut Vec<Finding>) {
    let (options, session) = (input.options, input.env.session);
    if let Some(why) = session.unheard() {
        return unheard(input, why, findings);
    }
    if input.are_valid {
        let trail = trail::trail(input.env, options, input.matchers);
        grounded::check(&trail, options, session, findings);
        tool_values::check(&trail, options, session, findings);
        injected::check(&trail, options, findings);
    }
    instructions::check(options, session, findings);
    if input.are_valid {
        followed::check(input.env, options, input.is_read_only, findings);
        once::check(options, input.was_made, findings);
        confirmed::check(input.env, options, findings);
    }
    requested::check(options, session, findings);
}

/// Nobody kept what was said: not even that it was nothing.
fn unheard(input: &Input<'_, '_>, why: &str, findings: &mut Vec<Finding>) {
    let (options, is_matched) = (input.options, !input.matchers.is_empty());
    let asked = options.request.as_ref().map(|request| format!("{}{}", requested::NAME, request.name));
    let names = [
        (grounded::NAME, !options.ground.is_empty() || is_matched),
        (instructions::NAME, options.instructions() == Instructions::Any),
        (followed::NAME, options.instructions() == Instructions::Flow),
        (confirmed::NAME, options.confirm.is_some()),
        (asked.as_deref().unwrap_or_default(), asked.is_some()),
    ];
    for (name, _) in names.into_iter().filter(|(_, is_set)| *is_set) {
        findings.push(Finding::new(name, Effect::Unevaluated, NextStep::NotEvaluated, why));
    }
    if input.are_valid {
        once::check(options, input.was_made, findings);
    }
}
