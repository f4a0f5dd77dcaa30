//! What was seen of a tool's arguments, and what limit that suggests.

use std::collections::{BTreeMap, BTreeSet};

use framegate_guard::decision::Decision;
use framegate_guard::json::{Document, Kind, Limits, Value};
use framegate_guard::link;
use framegate_guard::world::Answers;

use crate::redact;

/// Different texts that are kept of one argument.
const TEXTS_MAX: usize = 1000;
/// Different words that are still an enumeration.
const WORDS_MAX: usize = 8;
/// Bytes of such a word.
const WORD_BYTES_MAX: usize = 64;
/// Calls without which few words may be chance.
const CALLS_MIN: u64 = 5;
/// Folders or hosts that are still a limit.
const PLACES_MAX: usize = 8;
/// Bytes of the ending of a file's name.
const ENDING_BYTES_MAX: usize = 8;
/// Folders above one path that are kept.
const FOLDERS_MAX: usize = 64;

/// One tool.
#[derive(Debug, Default)]
pub(super) struct SeenTool {
    pub(super) calls: u64,
    /// Calls whose arguments were read.
    pub(super) seen: u64,
    /// Arguments were coerced.
    pub(super) is_coerced: bool,
    pub(super) arguments: BTreeMap<String, SeenArgument>,
}

/// One argument, over all calls.
#[derive(Debug, Default)]
pub(super) struct SeenArgument {
    /// Calls that sent it.
    pub(super) calls: u64,
    /// Texts, with where they led if the record says so.
    texts: BTreeMap<String, Option<String>>,
    has_more: bool,
    numbers: Option<(f64, f64)>,
    pub(super) is_list: bool,
    is_mixed: bool,
    is_secret: bool,
    kinds: BTreeSet<&'static str>,
}

/// What an argument's values have in common.
#[derive(Debug, PartialEq)]
pub(super) enum Limit {
    /// Real paths below these.
    Folders(Vec<String>),
    /// Paths below these as far as their texts say; where they led was not recorded.
    Unproven(Vec<String>),
    Hosts(Vec<String>),
    Words(Vec<String>),
    /// Nothing to enforce; what to tell.
    Told(String),
}

impl SeenTool {
    pub(super) fn take(&mut self, decision: &Decision, is_edited: bool) {
        self.calls += 1;
        self.is_coerced |= is_edited;
        let whole = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
        let Ok(arguments) = Document::read(decision.arguments.clone(), &whole) else { return };
        self.seen += 1;
        // A secret may be told by the argument's name alone.
        let secrets = redact::json(decision.arguments.clone()).map(|found| found.secrets).unwrap_or_default();
        for (name, value) in arguments.root().members() {
            let seen = self.arguments.entry(name.to_owned()).or_default();
            seen.calls += 1;
            seen.value(value, &decision.answers, &secrets);
        }
    }
}

impl SeenArgument {
    fn value(&mut self, value: Value<'_>, answers: &Answers, secrets: &[String]) {
        match value.kind() {
            Kind::String => self.text(value.as_str().unwrap_or_default(), answers, secrets),
            Kind::Array if value.items().all(|item| item.kind() == Kind::String) => {
                self.is_mixed |= self.calls > 1 && !self.is_list;
                self.is_list = true;
                value.items().for_each(|item| self.text(item.as_str().unwrap_or_default(), answers, secrets));
                return;
            }
            Kind::Number => {
                let number: f64 = value.raw().parse().unwrap_or_default();
                let (low, high) = self.numbers.unwrap_or((number, number));
                self.numbers = Some((low.min(number), high.max(number)));
            }
            Kind::Array => drop(self.kinds.insert("lists")),
            Kind::Bool => drop(self.kinds.insert("true or false")),
            Kind::Null => drop(self.kinds.insert("null")),
            Kind::Object => drop(self.kinds.insert("objects")),
        }
        self.is_mixed |= self.is_list;
    }

    fn text(&mut self, text: &str, answers: &Answers, secrets: &[String]) {
        self.is_secret |= secrets.iter().any(|secret| text.contains(secret.as_str()));
        if self.texts.len() >= TEXTS_MAX && !self.texts.contains_key(text) {
            self.has_more = true;
            return;
        }
        let real = answers.paths.get(text).and_then(|real| real.clone().ok());
        let known = self.texts.entry(text.to_owned()).or_default();
        *known = real.or(known.take());
    }

    /// What to require of it.
    pub(super) fn limit(&self, places: &Places) -> Limit {
        if self.is_secret {
            return Limit::Told("looks like a credential; its values are not shown".into());
        }
        if self.is_mixed || self.texts.is_empty() || self.numbers.is_some() || !self.kinds.is_empty() {
            return Limit::Told(self.told());
        }
        self.places(places).or_else(|| self.words()).unwrap_or_else(|| Limit::Told(self.told()))
    }

    fn places(&self, seen: &Places) -> Option<Limit> {
        if self.has_more {
            return None;
        }
        let hosts: Option<BTreeSet<String>> = self.texts.keys().map(|text| link::host(text).ok()).collect();
        if let Some(hosts) = hosts {
            return (hosts.len() <= PLACES_MAX).then(|| Limit::Hosts(hosts.into_iter().collect()));
        }
        if let Some(real) = self.texts.values().map(Option::as_deref).collect::<Option<Vec<&str>>>() {
            return roots(&real, seen).map(Limit::Folders);
        }
        let is_plain = |text: &&str| {
            text.starts_with('/') && text.len() > 1 && !text.split('/').any(|part| part == "..")
        };
        let known = self.texts.iter().map(|(text, real)| real.as_deref().unwrap_or(text));
        let paths: Vec<&str> = known.collect();
        paths.iter().all(is_plain).then(|| roots(&paths, seen)).flatten().map(Limit::Unproven)
    }

    fn words(&self) -> Option<Limit> {
        let few =
            u64::try_from(self.texts.len()).ok()?.saturating_mul(2) <= self.calls && self.calls >= CALLS_MIN;
        let is_word = |text: &String| text.len() <= WORD_BYTES_MAX && !text.contains(char::is_control);
        let all = !self.has_more && self.texts.len() <= WORDS_MAX && self.texts.keys().all(is_word);
        (few && all).then(|| Limit::Words(self.texts.keys().cloned().collect()))
    }

    fn told(&self) -> String {
        let mut parts = Vec::new();
        if let Some((low, high)) = self.numbers {
            parts.push(format!("numbers from {low} to {high}"));
        }
        if self.texts.len() == 1 {
            parts.push("one text".to_owned());
        } else if !self.texts.is_empty() {
            let more = if self.has_more { "more than " } else { "" };
            parts.push(format!("{more}{} different texts", self.texts.len()));
        }
        parts.extend(self.kinds.iter().map(|kind| (*kind).to_owned()));
        parts.join(", ")
    }

    /// How many different texts there were.
    pub(super) fn different(&self) -> usize {
        self.texts.len()
    }
}

/// What all calls say of which paths are folders.
#[derive(Debug, Default)]
pub(super) struct Places {
    folders: BTreeSet<String>,
}

impl Places {
    /// What the world was asked for and no argument names is what a rule bounds: a folder.
    pub(super) fn take(&mut self, decision: &Decision) {
        let whole = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
        let Ok(arguments) = Document::read(decision.arguments.clone(), &whole) else { return };
        let mut texts = BTreeSet::new();
        for (_, value) in arguments.root().members() {
            texts.extend(value.as_str());
            texts.extend(value.items().filter_map(|item| item.as_str()));
        }
        for (path, real) in &decision.answers.paths {
            let real = real.as_ref().ok();
            if !texts.contains(path.as_str()) {
                self.folders.extend(std::iter::once(path).chain(real).cloned());
            }
            let seen = real.unwrap_or(path);
            self.above(seen);
        }
        texts.into_iter().filter(|text| text.starts_with('/')).for_each(|text| self.above(text));
    }

    fn above(&mut self, path: &str) {
        for (at, _) in path.match_indices('/').skip(1).take(FOLDERS_MAX) {
            if self.folders.len() >= TEXTS_MAX {
                return;
            }
            self.folders.extend(path.get(..at).filter(|folder| !folder.ends_with('/')).map(str::to_owned));
        }
    }

    /// Its last part has the ending of a file's name, and nothing says that it is a folder all the same. Where this
    /// errs the draft is too narrow, and who reads it widens it; a parent that was never asked for is too wide.
    fn is_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
        ending.is_some_and(|ending| {
            ending.len() <= ENDING_BYTES_MAX
                && ending.starts_with(|c: char| c.is_ascii_alphabetic())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
        }) && !self.folders.contains(path)
    }
}

/// The folders that all of these lie in, one for each first part of a path; nothing where that is no limit.
fn roots(paths: &[&str], seen: &Places) -> Option<Vec<String>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let own = parts.len() - usize::from(seen.is_file(path)).min(parts.len());
        let (first, folder) = (*parts.first()?, parts.get(..own.max(1))?.to_vec());
        groups
            .entry(first)
            .and_modify(|common| {
                let same = common.iter().zip(&folder).take_while(|(a, b)| a == b).count();
                common.truncate(same);
            })
            .or_insert(folder);
    }
    (groups.len() <= PLACES_MAX)
        .then(|| groups.values().map(|parts| format!("/{}", parts.join("/"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_the_deepest_common_folders() {
        let roots = |paths: &[&str]| roots(paths, &Places::default()).unwrap();
        assert_eq!(roots(&["/work/a.txt", "/work/b/c.txt"]), ["/work"]);
        assert_eq!(roots(&["/work/b/a.txt", "/work/b/c.txt"]), ["/work/b"]);
        assert_eq!(roots(&["/work/a.txt", "/tmp/x/y", "/tmp/x/z"]), ["/tmp/x", "/work"]);
        assert_eq!(roots(&["/work"]), ["/work"]);
        assert_eq!(roots(&["/work", "/work/x/y"]), ["/work"]);
        let many: Vec<String> = (0..=PLACES_MAX).map(|number| format!("/{number}/x")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(super::roots(&many, &Places::default()), None);
        assert!(super::roots(many.get(1..).unwrap(), &Places::default()).is_some());
    }

    #[test]
    fn a_folder_that_was_an_argument_is_not_widened_to_its_parent() {
        let roots = |paths: &[&str], seen: &Places| roots(paths, seen).unwrap();
        let mut seen = Places::default();
        assert_eq!(roots(&["/tmp/x/work"], &seen), ["/tmp/x/work"], "nothing says that it is a file");
        assert_eq!(roots(&["/tmp/x/work/"], &seen), ["/tmp/x/work"]);
        assert_eq!(roots(&["/tmp/x/v1.2"], &seen), ["/tmp/x/v1.2"]);
        assert_eq!(roots(&["/tmp/x/.git"], &seen), ["/tmp/x/.git"]);
        assert_eq!(roots(&["/tmp/x/a.txt"], &seen), ["/tmp/x"]);
        assert_eq!(roots(&["/tmp/x/conf.d"], &seen), ["/tmp/x"]);
        seen.above("/tmp/x/conf.d/a.txt");
        assert_eq!(roots(&["/tmp/x/conf.d"], &seen), ["/tmp/x/conf.d"], "another path lies below it");
    }

    #[test]
    fn what_a_rule_asked_about_as_a_root_is_a_folder() {
        let document = Document::read(r#"{"path":"/tmp/x/conf.d"}"#.into(), &Limits::default()).unwrap();
        let mut decision = Decision::refused("list", None, document.root(), "r", "why");
        let asked = |path: &str| (path.to_owned(), Ok(path.to_owned()));
        decision.answers.paths = [asked("/tmp/x/conf.d"), asked("/srv/app.data")].into();
        let mut seen = Places::default();
        seen.take(&decision);
        assert_eq!(roots(&["/srv/app.data"], &seen).unwrap(), ["/srv/app.data"], "no argument names it");
        assert_eq!(roots(&["/tmp/x/conf.d"], &seen).unwrap(), ["/tmp/x"], "the argument itself says nothing");
    }

    fn argument(values: &[&str]) -> SeenArgument {
        let mut seen = SeenArgument::default();
        for value in values {
            let document = Document::read(format!("[{value}]").into(), &Limits::default()).unwrap();
            seen.calls += 1;
            seen.value(document.root().item(0).unwrap(), &Answers::default(), &[]);
        }
        seen
    }

    #[test]
    fn values_suggest_limits() {
        let unproven = argument(&[r#""/work/a""#, r#""/work/b""#]).limit(&Places::default());
        assert_eq!(unproven, Limit::Unproven(vec!["/work".into()]));
        let hosts =
            argument(&[r#""https://A.example/x""#, r#""https://b.example""#]).limit(&Places::default());
        assert_eq!(hosts, Limit::Hosts(vec!["a.example".into(), "b.example".into()]));
        let five = [r#""fast""#, r#""slow""#, r#""fast""#, r#""fast""#, r#""fast""#];
        assert_eq!(
            argument(&five).limit(&Places::default()),
            Limit::Words(vec!["fast".into(), "slow".into()])
        );
        assert_eq!(argument(&five[..4]).limit(&Places::default()), Limit::Told("2 different texts".into()));
        assert_eq!(
            argument(&["1", "2.5"]).limit(&Places::default()),
            Limit::Told("numbers from 1 to 2.5".into())
        );
        assert_eq!(
            argument(&[r#""a""#, "[\"b\"]"]).limit(&Places::default()),
            Limit::Told("2 different texts".into())
        );
        assert_eq!(
            argument(&["true", "{}"]).limit(&Places::default()),
            Limit::Told("objects, true or false".into())
        );
        let climbs = argument(&[r#""/work/../etc""#]).limit(&Places::default());
        assert_eq!(climbs, Limit::Told("one text".into()));
    }
}
