//! Rules of a tool, and the calls that they are for.

use super::super::term::{Id, Sort};
use super::Tool;
use super::events::Build;
use super::names::Names;
use crate::policy::{BoundRule, arguments_of};

/// A rule of a tool, and the calls that it is for.
pub(super) struct Ruled<'t> {
    pub(super) bound: &'t BoundRule,
    pub(super) applies: Applies,
}

/// Which calls a rule is for, beside its `when`.
pub(super) enum Applies {
    Always,
    /// Those that send one of these.
    Sent(Vec<String>),
    /// Nobody knows, but for those that send all of the first, and one of the others where there is no first.
    Perhaps(Vec<String>, Vec<String>),
}

impl Ruled<'_> {
    /// Every call of the tool is one that it is for.
    pub(super) fn is_for_all(&self) -> bool {
        self.bound.when.is_none() && matches!(self.applies, Applies::Always)
    }
}

impl Build<'_> {
    /// A rule without `tools` is for tools with the arguments that it reads; without a schema nobody knows which these
    /// are.
    pub(super) fn ruled<'t>(&self, tool: &'t Tool<'_>, has_schema: bool) -> Vec<Ruled<'t>> {
        let applies = |bound: &BoundRule| {
            let rule = &bound.rule;
            if has_schema || !rule.tools.is_empty() || rule.made_of.is_some() {
                return Applies::Always;
            }
            let wanted = arguments_of(self.policy, rule);
            if wanted.is_empty() {
                return Applies::Always;
            }
            Applies::Perhaps(wanted.needed.into_iter().collect(), wanted.optional.into_iter().collect())
        };
        let bound = tool.bound.rules.iter().map(|bound| Ruled { bound, applies: applies(bound) });
        let undeclared = tool.bound.undeclared();
        let undeclared =
            undeclared.map(|(names, bound)| Ruled { bound, applies: Applies::Sent(names.to_vec()) });
        bound.chain(undeclared).collect()
    }

    /// Whether a rule is for a call: certainly, and certainly not.
    pub(super) fn when(&mut self, rule: &Ruled<'_>, names: &mut Names<'_>) -> (Id, Id) {
        let (yes, no) = match &rule.bound.when {
            Some(when) => self.lower(names).condition(when),
            None => super::cel::always(self.model),
        };
        let is_given = |build: &mut Self, names: &mut Names<'_>, all: &[String]| -> Vec<Id> {
            all.iter().filter_map(|name| names.given(build.model, "args", name)).collect()
        };
        let applies = match &rule.applies {
            Applies::Always => return (yes, no),
            Applies::Sent(sent) => {
                let sent = is_given(self, names, sent);
                self.model.terms.any(sent)
            }
            Applies::Perhaps(needed, optional) => {
                let mut all = is_given(self, names, needed);
                if needed.is_empty() {
                    let optional = is_given(self, names, optional);
                    all.push(self.model.terms.any(optional));
                }
                let has_all = self.model.terms.all(all);
                let key = format!("the tool declares what `{}` reads", rule.bound.rule.name);
                let declares = names.own(self.model, &key, Sort::Bool);
                self.model.terms.any([declares, has_all])
            }
        };
        let terms = &mut self.model.terms;
        let not = terms.not(applies);
        (terms.all([applies, yes]), terms.any([not, no]))
    }

    /// Where nothing is enforced a call whose arguments are not valid is sent all the same; what reads these has no value
    /// then, whatever it is.
    pub(super) fn or_invalid(&mut self, when: (Id, Id), reads_them: bool, names: &mut Names<'_>) -> (Id, Id) {
        if !reads_them {
            return when;
        }
        let are_valid = names.own(self.model, "the arguments are valid", Sort::Bool);
        let terms = &mut self.model.terms;
        (terms.all([are_valid, when.0]), terms.all([are_valid, when.1]))
    }
}
