//! `user_confirmed`: the user said yes to a message that names what the call will do.

use std::collections::BTreeMap;

use super::env::CallEnv;
use super::values;
use crate::cel::{self, Budget, Env, Expression, Failure};
use crate::finding::{Effect, Finding, NextStep};
use crate::ground::Matcher;
use crate::json::{Kind, Value};
use crate::messages::Role;
use crate::policy::Provenance;
use crate::policy::provenance::Confirm;
use crate::session::Kept;
use crate::words::{self, Confirmed, Deed, How, Said, WANTED_MAX, Wanted};

/// The check's name.
pub(crate) const NAME: &str = "user_confirmed";

/// Values that a reason tells.
const TOLD_MAX: usize = 8;

/// Other names of a value that a reason tells.
const NAMES_TOLD_MAX: usize = 3;

/// Judges the conversation.
pub(crate) fn check(env: &CallEnv<'_>, options: &Provenance, findings: &mut Vec<Finding>) {
    let Some(confirm) = &options.confirm else { return };
    let unevaluated = |why: &str| Finding::new(NAME, Effect::Unevaluated, NextStep::NotEvaluated, why);
    if !env.session.knows_user() {
        let why = "nobody told what the user said, so whether they confirmed it is not known";
        findings.push(unevaluated(why));
        return;
    }
    let mut wanted = wanted(env, options, confirm);
    if wanted.len() > WANTED_MAX {
        findings.push(unevaluated(&format!("the call has more than {WANTED_MAX} values to be confirmed")));
        return;
    }
    let (told, unknown) = add_names(env, confirm, &mut wanted);
    // A yes in a form is one to the form.
    let kept: Vec<&Kept> = env.session.spoken().collect();
    let said: Vec<Said<'_>> =
        kept.iter().map(|kept| Said { role: kept.role(), text: kept.prepared() }).collect();
    let how = How { matcher: confirm.matcher, last: confirm.last, deed: Deed::of(env.tool) };
    let confirmed = words::confirmed(&said, &wanted, &how);
    if confirmed.is_confirmed() {
        return;
    }
    let reason =
        Why { confirm, kept: &kept, wanted: &wanted, confirmed: &confirmed, told: &told, deed: how.deed };
    let reason = reason.told();
    // What is not known to be named otherwise may be.
    let unknown = unknown.filter(|(path, _)| confirmed.pair.is_some() && confirmed.missing.contains(path));
    findings.push(match unknown {
        Some((_, why)) => unevaluated(&format!("{reason}, and its other names are unknown: {why}")),
        None => Finding::new(NAME, confirm.otherwise.into(), NextStep::ConfirmFirst, reason),
    });
}

/// Why a call is not confirmed, for the model to mend it.
struct Why<'w, 'a> {
    confirm: &'w Confirm,
    kept: &'w [&'w Kept],
    wanted: &'w [Wanted<'a>],
    confirmed: &'w Confirmed,
    /// The names that expressions gave, by path.
    told: &'w Names,
    deed: Option<Deed>,
}

impl Why<'_, '_> {
    fn told(&self) -> String {
        let Some((proposal, yes)) = self.confirmed.pair else { return self.no_yes() };
        let number = |at: usize| self.kept.get(at).map_or(0, |kept| kept.number());
        let (proposal, yes) = (number(proposal), number(yes));
        let mut lacks = Vec::new();
        let (another, missing): (Vec<&String>, Vec<&String>) =
            self.confirmed.missing.iter().partition(|path| self.confirmed.another.contains(path));
        if let Some(values) = self.values(&missing) {
            lacks.push(format!("what the user said yes to (message {proposal}) does not name {values}"));
        }
        if let Some(values) = self.values(&another) {
            lacks.push(format!("the user's yes (message {yes}) speaks of another one than {values}"));
        }
        if let Some(deed) = self.deed.filter(|_| self.confirmed.is_deed_unsaid) {
            let verb = deed.verb();
            lacks.push(format!(
                "what the user said yes to (message {proposal}) does not say that it would {verb}"
            ));
        }
        format!("not confirmed: {}", lacks.join(", and "))
    }

    fn no_yes(&self) -> String {
        let within = match self.confirm.last {
            Some(1) => " in their last message".to_owned(),
            Some(last) => format!(" in their last {last} messages"),
            None => String::new(),
        };
        let last = self.kept.iter().rev().find(|kept| kept.role() == Some(Role::User));
        let last = last.map(|kept| {
            let number = kept.number();
            if words::accepts(kept.text()) {
                format!("; their last (message {number}) says yes, but to no message of the assistant's right before it")
            } else {
                format!("; their last (message {number}) is no clear yes: a question, a condition, a doubt or a word of refusal is none")
            }
        });
        let last = last.unwrap_or_default();
        format!("not confirmed: the user has not said yes to any message of the assistant's{within}{last}")
    }

    /// `` `to` "ACC-31" (or "Kim's account"), `n` 5, and 2 more ``
    fn values(&self, paths: &[&String]) -> Option<String> {
        let missing = self.wanted.iter().filter(|wanted| paths.contains(&&wanted.path));
        let mut all: Vec<String> = missing.take(TOLD_MAX).map(|wanted| self.value(wanted)).collect();
        if paths.len() > TOLD_MAX {
            all.push(format!("and {} more", paths.len() - TOLD_MAX));
        }
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn value(&self, wanted: &Wanted<'_>) -> String {
        let shown = values::named(&wanted.path, wanted.value);
        let names = self.told.get(&wanted.path).into_iter().flatten().take(NAMES_TOLD_MAX);
        let names: Vec<String> = names.map(|name| values::quoted(name)).collect();
        if names.is_empty() { shown } else { format!("{shown} (or {})", names.join(" or ")) }
    }
}

/// The values that must be named: those of the listed arguments, else each text and number that is sent.
fn wanted<'a>(env: &CallEnv<'a>, options: &Provenance, confirm: &Confirm) -> Vec<Wanted<'a>> {
    let mut all: Vec<Wanted<'a>> = match &confirm.arguments {
        Some(names) => {
            let values = names.iter().flat_map(|name| values::of(env.arguments, name, env.schema));
            let counts = |value: Value<'_>| value.kind() != Kind::Bool && !values::is_blank(value);
            values
                .filter(|named| counts(named.value))
                .take(WANTED_MAX + 1)
                .map(|named| words::named(named.path, named.value))
                .collect()
        }
        None => {
            let names = values::all(env.arguments, env.schema).into_iter().filter(|named| named.is_name);
            let names = names.map(|named| words::named(named.path, named.value));
            words::wanted(env.arguments).into_iter().chain(names).take(WANTED_MAX + 1).collect()
        }
    };
    for wanted in &mut all {
        let matcher = by_argument(&confirm.matchers, &wanted.path).copied();
        // How an argument's numbers are written is said once.
        let ground = by_argument(&options.ground.named, &wanted.path);
        let locale = ground.and_then(|ground| ground.matcher.locale);
        let matcher = matcher.unwrap_or(confirm.matcher);
        wanted.matcher = Some(Matcher { locale: matcher.locale.or(locale), ..matcher });
    }
    all
}

/// Names by path.
type Names = BTreeMap<String, Vec<String>>;

/// Adds the names that expressions give, which are also given back; and the first value whose names are unknown, and
/// why.
fn add_names(
    env: &CallEnv<'_>,
    confirm: &Confirm,
    wanted: &mut [Wanted<'_>],
) -> (Names, Option<(String, String)>) {
    let (mut told, mut unknown) = (Names::new(), None);
    let mut budget = Budget::default();
    for wanted in wanted {
        let naming = by_argument(&confirm.named, &wanted.path).and_then(|naming| naming.expression());
        match naming.map(|naming| names(naming, env, wanted.value, &mut budget)) {
            Some(Ok(names)) => {
                wanted.words.extend(names.iter().cloned());
                told.insert(wanted.path.clone(), names);
            }
            // A value without another name must be named itself.
            Some(Err(failure)) if failure.unknown && unknown.is_none() => {
                unknown = Some((wanted.path.clone(), failure.message));
            }
            Some(Err(_)) | None => {}
        }
    }
    (told, unknown)
}

/// What is said of a path, or of the argument it leads into.
fn by_argument<'m, T>(all: &'m BTreeMap<String, T>, path: &str) -> Option<&'m T> {
    let plain = values::without_positions(path);
    all.get(path).or_else(|| all.get(&plain)).or_else(|| all.get(plain.split('.').next()?))
}

/// The variables of a rule, and `value`.
struct Naming<'e, 'a> {
    env: &'e CallEnv<'a>,
    value: Value<'e>,
}

impl Env for Naming<'_, '_> {
    fn variable(&self, name: &str) -> Option<cel::Value<'_>> {
        if name == "value" { Some(cel::Value::Json(self.value)) } else { self.env.variable(name) }
    }

    fn member(&self, variable: &str, name: &str) -> Option<cel::Value<'_>> {
        self.env.member(variable, name)
    }

    fn expression(&self, variable: &str, name: &str) -> Option<&Expression> {
        self.env.expression(variable, name)
    }

    fn world(&self) -> &dyn crate::world::World {
        self.env.world()
    }

    fn with_defaults<'b>(&'b self, arguments: cel::Value<'b>) -> Result<cel::Value<'b>, Failure> {
        self.env.with_defaults(arguments)
    }
}

fn names(
    naming: &Expression,
    env: &CallEnv<'_>,
    value: Value<'_>,
    budget: &mut Budget,
) -> Result<Vec<String>, Failure> {
    let env = Naming { env, value };
    match naming.evaluate(&env, budget)? {
        cel::Value::List(items) => items.iter().map(word).collect(),
        cel::Value::Json(list) if list.kind() == Kind::Array => {
            list.items().map(|item| word(&cel::Value::Json(item))).collect()
        }
        one => Ok(vec![word(&one)?]),
    }
}

fn word(value: &cel::Value<'_>) -> Result<String, Failure> {
    match (value.as_str(), value.as_number()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(number)) => Ok(number.to_string()),
        (None, None) => {
            Err(Failure::error(format!("another name is a text or a number, not {}", value.kind())))
        }
    }
}
