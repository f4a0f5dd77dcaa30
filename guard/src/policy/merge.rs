//! All entries of `tools:` that match a tool, as one: for each option the most literal entry that sets it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::glob::{Glob, Steps};
use super::options::{
    Approve, Arguments, AskField, Definitions, InvisibleBy, Missing, Mode, Remember, Schema, ToolOptions,
    Undeclared,
};
use super::provenance::{Confirm, Ground, Grounds, Instructions, Needs, Provenance, Request, ToolValues};
use super::states::Allowance;

/// One option with its value. A new option is a variant here, an arm in [`Set::apply`] and one where it is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Set {
    Acts(bool),
    Approve(Approve),
    Arguments(Arguments),
    Authorize(bool),
    AskEmpty(bool),
    AskFields(BTreeMap<String, AskField>),
    AskMessage(String),
    AskRequired(Vec<String>),
    Budget(Allowance),
    Confirm(Option<Confirm>),
    Ground(Grounds),
    Hidden(bool),
    Instructions(Instructions),
    Invisible(InvisibleBy),
    Limit(Allowance),
    Missing(Missing),
    Mode(Mode),
    Once(bool),
    Definitions(Definitions),
    Remember(Remember),
    Request(Option<Request>),
    ScanUser(bool),
    Schema(Schema),
    ShowRules(bool),
    ToolValues(ToolValues),
    Undeclared(Undeclared),
}

impl Set {
    fn apply(&self, options: &mut ToolOptions) {
        let provenance = &mut options.provenance;
        match self {
            Set::Acts(value) => provenance.acts = Some(*value),
            Set::Approve(value) => options.approve = *value,
            Set::Arguments(value) => options.arguments = *value,
            Set::Authorize(value) => provenance.authorize = *value,
            Set::AskEmpty(value) => options.ask.empty_is_missing = *value,
            Set::AskFields(value) => options.ask.fields.clone_from(value),
            Set::AskMessage(value) => options.ask.message = Some(value.clone()),
            Set::AskRequired(value) => options.ask.required.clone_from(value),
            Set::Budget(value) => options.budget = Some(value.name.as_str().into()),
            Set::Limit(value) => options.limit = Some(value.name.as_str().into()),
            Set::Definitions(value) => options.definitions = *value,
            Set::Confirm(value) => provenance.confirm.clone_from(value),
            Set::Ground(value) => provenance.ground.clone_from(value),
            Set::Hidden(value) => options.hidden = *value,
            Set::ShowRules(value) => options.show_rules = *value,
            Set::Instructions(value) => provenance.instructions = Some(*value),
            Set::Invisible(value) => options.invisible = value.clone(),
            Set::Missing(value) => options.missing = Some(*value),
            Set::Mode(value) => options.mode = *value,
            Set::Once(value) => provenance.once = *value,
            Set::Remember(value) => options.remember = *value,
            Set::Request(value) => provenance.request.clone_from(value),
            Set::ScanUser(value) => provenance.scan_user = *value,
            Set::Schema(value) => options.schema = Some(value.clone()),
            Set::ToolValues(value) => provenance.tool_values = *value,
            Set::Undeclared(value) => options.undeclared = *value,
        }
    }
}

/// An option as an entry sets it.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) value: Set,
    pub(crate) span: Range<usize>,
}

impl Setting {
    /// Gives a limit or a budget a name that no other one has: two patterns may be one name in plain letters.
    pub(crate) fn name_apart(&mut self, names: &mut BTreeSet<String>) {
        let (Set::Limit(allowance) | Set::Budget(allowance)) = &mut self.value else { return };
        while !names.insert(allowance.name.clone()) {
            allowance.name.push('_');
        }
    }
}

/// The one of this option.
pub(crate) fn setting<'s>(settings: &'s [Setting], key: &str) -> Option<&'s Setting> {
    settings.iter().find(|setting| setting.key == key)
}

/// One entry of `tools:`.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) glob: Glob,
    pub(crate) span: Range<usize>,
    pub(crate) settings: Vec<Setting>,
}

impl Entry {
    /// What it says itself of where values come from.
    pub(crate) fn provenance(&self) -> Provenance {
        applied(ToolOptions::default(), &self.settings).provenance
    }

    /// The arguments that `ask` speaks of, and where.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.settings.iter().flat_map(|setting| {
            let names: Vec<&str> = match &setting.value {
                Set::AskRequired(names) => names.iter().map(String::as_str).collect(),
                Set::AskFields(fields) => fields.keys().map(String::as_str).collect(),
                _ => Vec::new(),
            };
            names.into_iter().map(|name| (name, &setting.span))
        })
    }

    pub(crate) fn setting(&self, key: &str) -> Option<&Setting> {
        setting(&self.settings, key)
    }
}

/// Two entries that match one tool, equally literal, with different values for one option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{first}` and `{second}` are equally literal, both match `{tool}`, and set `{key}` differently")]
pub struct Conflict {
    /// The option.
    pub key: &'static str,
    /// A tool that both match.
    pub tool: String,
    /// One entry.
    pub first: String,
    /// The other entry.
    pub second: String,
    span: Range<usize>,
}

impl Conflict {
    /// Where the second entry sets it.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// `defaults:` and `tools:`.
#[derive(Debug)]
pub(crate) struct Entries {
    defaults: ToolOptions,
    /// `defaults:` as written.
    own_defaults: Vec<Setting>,
    /// The most literal first.
    entries: Vec<Entry>,
    needs: Needs,
}

impl Entries {
    pub(crate) fn new(own_defaults: Vec<Setting>, mut entries: Vec<Entry>) -> Entries {
        entries.sort_by_key(|entry| Reverse(entry.glob.literalness()));
        let defaults = applied(ToolOptions::default(), &own_defaults);
        let own: Vec<Provenance> = entries.iter().map(Entry::provenance).collect();
        let needs = Needs::of(own.iter().chain([&defaults.provenance]));
        Entries { defaults, own_defaults, entries, needs }
    }

    /// What decisions on any tool depend on.
    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }

    pub(crate) fn all(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn defaults(&self) -> &ToolOptions {
        &self.defaults
    }

    /// What `defaults:` and each entry say themselves of where values come from, with their settings.
    pub(crate) fn provenances(&self) -> impl Iterator<Item = (Provenance, &[Setting])> {
        let defaults = (self.defaults.provenance.clone(), &*self.own_defaults);
        let entries = self.entries.iter().map(|entry| (entry.provenance(), &*entry.settings));
        std::iter::once(defaults).chain(entries)
    }

    pub(crate) fn names(&self, server: &str, tool: &str) -> bool {
        self.entries.iter().any(|entry| entry.glob.matches(server, tool))
    }

    pub(crate) fn shows_rules(&self) -> bool {
        self.defaults.show_rules || self.any_sets(&Set::ShowRules(true))
    }

    pub(crate) fn hides_by_definition(&self) -> bool {
        let hide = Definitions::Hide;
        self.defaults.definitions == hide || self.any_sets(&Set::Definitions(hide))
    }

    pub(crate) fn approves_at_terminal(&self) -> bool {
        self.defaults.approve == Approve::Terminal || self.any_sets(&Set::Approve(Approve::Terminal))
    }

    fn any_sets(&self, value: &Set) -> bool {
        self.entries.iter().flat_map(|entry| &entry.settings).any(|setting| setting.value == *value)
    }

    /// Every limit and budget.
    pub(crate) fn allowances(&self) -> impl Iterator<Item = &Allowance> {
        self.entries.iter().flat_map(|entry| &entry.settings).filter_map(|setting| match &setting.value {
            Set::Limit(allowance) | Set::Budget(allowance) => Some(allowance),
            _ => None,
        })
    }

    /// Every `ground` of an argument, and where it stands.
    pub(crate) fn grounds(&self) -> impl Iterator<Item = (&Ground, Range<usize>)> {
        let settings = self.entries.iter().flat_map(|entry| &entry.settings);
        let set = settings.filter_map(|setting| match &setting.value {
            Set::Ground(grounds) => Some((grounds, setting.span.clone())),
            _ => None,
        });
        let all = std::iter::once((&self.defaults.provenance.ground, 0..0)).chain(set);
        all.flat_map(|(grounds, span)| grounds.all().map(move |ground| (ground, span.clone())))
    }

    /// Where `authorize: true` stands first.
    pub(crate) fn authorize(&self) -> Option<Range<usize>> {
        let mut settings = self.entries.iter().flat_map(|entry| &entry.settings);
        let set = settings.find(|setting| setting.value == Set::Authorize(true));
        set.map(|setting| setting.span.clone()).or_else(|| self.defaults.provenance.authorize.then_some(0..0))
    }

    /// Every `confirm` that is set.
    pub(crate) fn confirms(&self) -> impl Iterator<Item = &Confirm> {
        let settings = self.entries.iter().flat_map(|entry| &entry.settings);
        let set = settings.filter_map(|setting| match &setting.value {
            Set::Confirm(confirm) => confirm.as_ref(),
            _ => None,
        });
        self.defaults.provenance.confirm.iter().chain(set)
    }

    pub(crate) fn merged(&self, server: &str, tool: &str) -> Result<ToolOptions, Conflict> {
        let matching = || self.entries.iter().filter(|entry| entry.glob.matches(server, tool));
        let mut chosen: Vec<(&Entry, &Setting)> = Vec::new();
        for entry in matching() {
            for setting in &entry.settings {
                match chosen.iter().find(|(_, other)| other.key == setting.key) {
                    None => chosen.push((entry, setting)),
                    Some((first, other)) if clash(first, other, entry, setting) => {
                        return Err(conflict(first, entry, setting, tool.to_owned()));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(chosen.iter().fold(self.defaults.clone(), |mut options, (_, setting)| {
            setting.value.apply(&mut options);
            options
        }))
    }

    /// Pairs of entries that can conflict on a name that no more literal entry settles.
    pub(crate) fn conflicts(&self) -> Vec<Conflict> {
        let mut found = Vec::new();
        let mut steps = Steps::default();
        for (index, second) in self.entries.iter().enumerate() {
            let earlier = self.entries.get(..index).unwrap_or_default();
            let peers =
                earlier.iter().rev().take_while(|e| e.glob.literalness() == second.glob.literalness());
            for first in peers {
                found.extend(self.conflict_of(first, second, &mut steps));
            }
        }
        found
    }

    fn conflict_of(&self, first: &Entry, second: &Entry, steps: &mut Steps) -> Option<Conflict> {
        let differs = |setting: &&Setting| {
            first.setting(setting.key).is_some_and(|other| clash(first, other, second, setting))
        };
        // Searching a common name is the costly part: only where something differs.
        let setting = second.settings.iter().find(differs)?;
        let name = first.glob.common(&second.glob, steps)?;
        let (server, tool) = name.split_once('/').unwrap_or(("", &name));
        let settled = self.entries.iter().take_while(|e| e.glob.literalness() > first.glob.literalness());
        let settled =
            settled.filter(|e| e.setting(setting.key).is_some()).any(|e| e.glob.matches(server, tool));
        (!settled).then(|| conflict(first, second, setting, name.clone()))
    }
}

pub(crate) fn applied(options: ToolOptions, settings: &[Setting]) -> ToolOptions {
    settings.iter().fold(options, |mut options, setting| {
        setting.value.apply(&mut options);
        options
    })
}

fn clash(first: &Entry, a: &Setting, second: &Entry, b: &Setting) -> bool {
    first.glob.literalness() == second.glob.literalness() && a.value != b.value
}

fn conflict(first: &Entry, second: &Entry, setting: &Setting, tool: String) -> Conflict {
    Conflict {
        key: setting.key,
        tool,
        first: first.glob.to_string(),
        second: second.glob.to_string(),
        span: setting.span.clone(),
    }
}
