//! What decisions on any tool depend on. Asked with every call and every answer, so it is told once, at the load.

use super::{Instructions, Provenance};
use crate::policy::{Definition, Rule};

/// Over all entries and the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::policy) struct Needs {
    /// What tools said.
    pub(in crate::policy) outputs: bool,
    /// Instruction-like text in it.
    pub(in crate::policy) scans: bool,
    /// Where what such text asks for goes.
    pub(in crate::policy) follows: bool,
    /// The user's words.
    pub(in crate::policy) user: bool,
    /// An authorizer.
    pub(in crate::policy) authorizer: bool,
}

impl Needs {
    pub(in crate::policy) fn of<'p>(all: impl IntoIterator<Item = &'p Provenance>) -> Needs {
        all.into_iter().fold(Needs::default(), |needs, options| Needs {
            outputs: needs.outputs || options.reads_outputs(),
            // An authorizer is asked again without such text.
            scans: needs.scans || options.scans() || options.authorize,
            follows: needs.follows || options.instructions() == Instructions::Flow,
            user: needs.user || options.needs_user().next().is_some(),
            authorizer: needs.authorizer || options.authorize,
        })
    }
}

/// Whether a rule, or a definition, reads what was said.
pub(in crate::policy) fn reads_said<'p>(
    rules: impl IntoIterator<Item = &'p Rule>,
    definitions: impl IntoIterator<Item = &'p Definition>,
) -> bool {
    let definitions = definitions.into_iter().map(|definition| &definition.value);
    let mut conditions = rules.into_iter().flat_map(Rule::conditions).chain(definitions);
    conditions.any(|condition| {
        let mut variables = condition.expression.reads().variables.iter();
        variables.any(|name| name == "conversation" || name == "user_request")
    })
}
