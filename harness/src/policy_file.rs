//! A policy from the disk, and the facts from the command line.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use framegate_guard::Facts;
use framegate_guard::json::{Document, Fault, Kind, Limits, Value};
use framegate_guard::policy::{FILE_BYTES_MAX, Loaded, Policy, PolicyErrors, Property, read_properties};
use framegate_guard::praxiom::Dialect;
use framegate_guard::schema::SCHEMA_BYTES_MAX;

use crate::args::FactArgs;

/// Bytes of a file of facts.
const FACTS_BYTES_MAX: usize = 1024 * 1024;

/// What a file's change shows in: modified, changed, length, inode. Editors replace files, and the time of
/// modification can be set back.
pub(crate) type Stamp = Option<(SystemTime, (i64, i64), u64, u64)>;

/// Two changes within this time may bear one and the same time: a clock tick of the file system is 4 ms or 10.
const TICK: Duration = Duration::from_millis(100);

/// How a file looks before it is read. Nothing, and so never the same again, where it is missing, and where it
/// has just been changed: the next change might show in nothing.
pub(crate) fn stamp_to_keep(file: &Path) -> Stamp {
    let (modified, changed, length, inode) = stamp_of(file)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let at = Duration::new(u64::try_from(changed.0).ok()?, u32::try_from(changed.1).ok()?);
    (now > at + TICK).then_some((modified, changed, length, inode))
}

/// How a file looks.
pub(crate) fn stamp_of(file: &Path) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let about = std::fs::metadata(file).ok()?;
    let changed = (about.ctime(), about.ctime_nsec());
    Some((about.modified().ok()?, changed, about.len(), about.ino()))
}

/// A policy and what it decides by.
#[derive(Debug, Clone)]
pub(crate) struct LoadedPolicy {
    pub(crate) policy: Policy,
    pub(crate) facts: Facts,
    /// What is odd about the policy, each with its place.
    pub(crate) warnings: Vec<String>,
}

/// Why there is nothing to decide by. Its `Display` is everything that is wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyFileError {
    #[error("{}", .0.join("\n"))]
    Facts(Vec<String>),
    #[error(transparent)]
    Policy(#[from] PolicyErrors),
    #[error("the policy `{}` cannot be read: {}", .path.display(), .why)]
    Unreadable { path: PathBuf, why: io::Error },
}

/// Reads a policy file, and the schema files that it names relative to itself; then the facts.
pub(crate) fn load(path: &Path, dialect: Dialect, facts: &FactArgs) -> Result<LoadedPolicy, PolicyFileError> {
    with_facts(read(path, dialect)?, facts)
}

/// Reads a policy file alone.
pub(crate) fn read(path: &Path, dialect: Dialect) -> Result<Loaded, PolicyFileError> {
    let stdin = || io::Error::other("stdin is read for something else here: give a file");
    let is_file = if path == Path::new("-") { Err(stdin()) } else { regular(path) };
    let text = is_file
        .and_then(|()| read_at_most(path, FILE_BYTES_MAX))
        .map_err(|why| PolicyFileError::Unreadable { path: path.to_owned(), why })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(parse(&path.display().to_string(), &text, (folder, dialect))?)
}

/// Reads a file of properties.
pub(crate) fn properties(path: &Path) -> Result<Vec<Property>, PolicyFileError> {
    let text = regular(path)
        .and_then(|()| read_at_most(path, FILE_BYTES_MAX))
        .map_err(|why| PolicyFileError::Unreadable { path: path.to_owned(), why })?;
    Ok(read_properties(&path.display().to_string(), &text)?)
}

/// Reads a policy from stdin; the schema files it names are looked for here.
pub(crate) fn read_stdin(dialect: Dialect) -> Result<Loaded, PolicyFileError> {
    let text = at_most(io::stdin().lock(), FILE_BYTES_MAX)
        .map_err(|why| PolicyFileError::Unreadable { path: "-".into(), why })?;
    Ok(parse("-", &text, (Path::new(""), dialect))?)
}

/// Reads a policy's text, and the schema files that it names relative to `folder`.
pub(crate) fn parse(
    name: &str,
    text: &[u8],
    (folder, dialect): (&Path, Dialect),
) -> Result<Loaded, PolicyErrors> {
    let mut schema = |file: &str| {
        let path = folder.join(file);
        let read = regular(&path).and_then(|()| read_at_most(&path, SCHEMA_BYTES_MAX));
        let bytes = read.map_err(|why| why.to_string())?;
        if bytes.len() > SCHEMA_BYTES_MAX {
            return Err(format!("it has more than {SCHEMA_BYTES_MAX} bytes"));
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
    };
    Policy::load_in(dialect, name, text, &mut schema)
}

/// A policy with the facts that are given to it.
pub(crate) fn with_facts(loaded: Loaded, facts: &FactArgs) -> Result<LoadedPolicy, PolicyFileError> {
    let Loaded { policy, warnings } = loaded;
    let facts = self::facts(&policy, facts).map_err(PolicyFileError::Facts)?;
    let warnings = warnings.iter().map(ToString::to_string).collect();
    Ok(LoadedPolicy { policy, facts, warnings })
}

/// The facts that the command line gives to a policy.
///
/// # Errors
/// A sentence for each thing wrong.
pub(crate) fn facts(policy: &Policy, args: &FactArgs) -> Result<Facts, Vec<String>> {
    Facts::new(policy, &given(policy, args)?)
}

/// A pipe would be waited for, for ever if nobody writes; a device may have no end. And neither can be read again
/// when it changes.
fn regular(path: &Path) -> io::Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "it is a folder, not a file",
        kind if kind.is_fifo() => {
            "it is a pipe, which can be read only once; write it to a file (`framegate check -` reads stdin)"
        }
        _ => "it is a device or a socket, not a regular file",
    };
    Err(io::Error::other(what))
}

/// One byte more than `max` shows that there is more; a file without an end (`/dev/zero`) is not read to it.
fn read_at_most(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    at_most(std::fs::File::open(path)?, max)
}

fn at_most(from: impl Read, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The facts of the command line, by name: `--fact` before `--facts`.
///
/// # Errors
/// A sentence for each thing wrong.
pub(crate) fn given(policy: &Policy, args: &FactArgs) -> Result<BTreeMap<String, Document>, Vec<String>> {
    let mut wrong = Vec::new();
    let mut facts = match args.facts.as_deref().map(facts_document).transpose() {
        Ok(document) => document.map(|document| members(document.root())).unwrap_or_default(),
        Err(why) => {
            wrong.push(why);
            BTreeMap::new()
        }
    };
    let mut typed: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, text) in &args.fact {
        if typed.insert(name, text).is_some_and(|before| before != text) {
            wrong.push(format!("fact `{name}`: it is given twice, with different values"));
        }
    }
    for (name, text) in typed {
        match policy.facts().get(name).map(|fact| fact.parse(text)) {
            Some(Ok(value)) => drop(facts.insert(name.to_owned(), value)),
            Some(Err(why)) => wrong.push(format!("fact `{name}`: {why}")),
            // Not declared: `Facts::new` says so, whatever the value.
            None => drop(facts.insert(name.to_owned(), Document::empty_object())),
        }
    }
    if wrong.is_empty() {
        return Ok(facts);
    }
    // The others are checked all the same, so that everything is said at once.
    wrong.extend(Facts::new(policy, &facts).err().unwrap_or_default());
    Err(wrong)
}

/// `--facts`: JSON when it begins as an object does, otherwise a file.
fn facts_document(given: &str) -> Result<Document, String> {
    let (what, bytes) = if given.trim_start().starts_with('{') {
        ("--facts".to_owned(), given.as_bytes().to_vec())
    } else {
        let bytes = read_at_most(Path::new(given), FACTS_BYTES_MAX)
            .map_err(|why| format!("the facts `{given}` cannot be read: {why}"))?;
        (format!("the facts `{given}`"), bytes)
    };
    if bytes.len() > FACTS_BYTES_MAX {
        return Err(format!("{what}: more than {FACTS_BYTES_MAX} bytes"));
    }
    let unreadable = |fault: Fault| format!("{what}: no strict JSON: {fault}");
    let document = Document::read(bytes.into(), &Limits::default()).map_err(unreadable)?;
    match document.root().kind() {
        Kind::Object => Ok(document),
        kind => Err(format!("{what}: facts are a JSON object, not a JSON {kind}")),
    }
}

/// The members of an object, each a document of its own.
pub(crate) fn members(object: Value<'_>) -> BTreeMap<String, Document> {
    let limits = Limits { depth: usize::MAX, ..Limits::default() };
    let own = |value: Value<'_>| Document::read(value.document().source().slice(value.span()), &limits);
    // What was read once with the same limits on numbers reads again.
    object.members().filter_map(|(name, value)| Some((name.to_owned(), own(value).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "framegate: 1\ndefault: allow\nfacts:\n  role: { type: string, one_of: [admin, viewer], default: viewer }\n  limit: { type: number }\n  groups: { type: list }\nrules:\n  - { name: r, tools: ['*'], that: facts.role == 'admin' && facts.limit > 1 && 'a' in facts.groups, because: No. }\n";

    fn args(fact: &[(&str, &str)], facts: Option<&str>) -> FactArgs {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        FactArgs { fact: fact.iter().map(own).collect(), facts: facts.map(str::to_owned) }
    }

    fn loaded(folder: &Path, policy: &str, args: &FactArgs) -> Result<LoadedPolicy, String> {
        let path = folder.join("p.yaml");
        std::fs::write(&path, policy).unwrap();
        load(&path, Dialect::Safe, args).map_err(|why| why.to_string())
    }

    fn raw(loaded: &LoadedPolicy, name: &str) -> Option<String> {
        loaded.facts.value(name).map(|value| value.raw().to_owned())
    }

    #[test]
    fn facts_come_from_options_inline_json_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("facts.json");
        std::fs::write(&file, "{\"limit\": 1.10, \"role\": \"viewer\"}\n").unwrap();
        let given = args(&[("role", "admin"), ("groups", "a,b")], Some(file.to_str().unwrap()));
        let policy = loaded(folder.path(), POLICY, &given).unwrap();
        assert_eq!(raw(&policy, "role").as_deref(), Some("\"admin\""), "the option counts before the file");
        assert_eq!(raw(&policy, "limit").as_deref(), Some("1.10"), "a number keeps its text");
        assert_eq!(raw(&policy, "groups").as_deref(), Some(r#"["a","b"]"#));
        let policy =
            loaded(folder.path(), POLICY, &args(&[], Some(" {\"limit\": 9007199254740993}"))).unwrap();
        assert_eq!(raw(&policy, "limit").as_deref(), Some("9007199254740993"));
        assert_eq!(raw(&policy, "role").as_deref(), Some("\"viewer\""), "the policy's default");
        assert_eq!(raw(&policy, "groups"), None);
    }

    #[test]
    fn everything_wrong_with_the_facts_is_said_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let given = args(
            &[("role", "root"), ("limit", "many"), ("rolle", "x"), ("groups", "a"), ("groups", "b")],
            Some(r#"{"limit": 1, "limit": 2}"#),
        );
        assert_eq!(
            loaded(folder.path(), POLICY, &given).unwrap_err(),
            "--facts: no strict JSON: duplicate key `limit` at byte 13\n\
             fact `groups`: it is given twice, with different values\n\
             fact `limit`: expected a number, found `many`\n\
             fact `role`: expected one of `\"admin\"`, `\"viewer\"`, found `\"root\"`\n\
             fact `rolle`: the policy does not declare it; it declares `groups`, `limit`, `role`"
        );
        let said = |facts: &str| loaded(folder.path(), POLICY, &args(&[], Some(facts))).unwrap_err();
        assert!(said("no-such-file").contains("the facts `no-such-file` cannot be read: No such file"));
        let list = folder.path().join("list.json");
        std::fs::write(&list, "[]").unwrap();
        assert!(said(list.to_str().unwrap()).ends_with("facts are a JSON object, not a JSON array"));
        std::fs::write(&list, vec![b' '; FACTS_BYTES_MAX]).unwrap();
        assert!(said(list.to_str().unwrap()).contains("empty text"));
        std::fs::write(&list, vec![b' '; FACTS_BYTES_MAX + 1]).unwrap();
        assert!(said(list.to_str().unwrap()).ends_with("more than 1048576 bytes"));
    }

    #[test]
    fn schema_files_are_found_beside_the_policy() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("schemas")).unwrap();
        std::fs::write(folder.path().join("schemas/pay.json"), r#"{"type":"object"}"#).unwrap();
        let policy = "framegate: 1\ntools:\n  pay: { schema: schemas/pay.json }\n";
        let loaded_policy = loaded(folder.path(), policy, &args(&[], None)).unwrap();
        let options = loaded_policy.policy.tool("server", "pay").unwrap();
        assert_eq!(options.schema.as_ref().unwrap().document().root().raw(), r#"{"type":"object"}"#);
        let missing = policy.replace("pay.json", "buy.json");
        let said = loaded(folder.path(), &missing, &args(&[], None)).unwrap_err();
        assert!(said.contains("cannot read the schema `schemas/buy.json`: No such file"), "{said}");
        std::fs::write(folder.path().join("schemas/buy.json"), vec![b' '; SCHEMA_BYTES_MAX + 1]).unwrap();
        let said = loaded(folder.path(), &missing, &args(&[], None)).unwrap_err();
        assert!(said.contains("more than 1048576 bytes"), "{said}");
    }

    #[test]
    fn a_policy_that_is_not_there_or_too_long_is_said() {
        let said = load(Path::new("no/such.yaml"), Dialect::Safe, &args(&[], None)).unwrap_err().to_string();
        assert!(said.starts_with("the policy `no/such.yaml` cannot be read: No such file"), "{said}");
        let said = load(Path::new("/"), Dialect::Safe, &args(&[], None)).unwrap_err().to_string();
        assert!(said.starts_with("the policy `/` cannot be read: it is a folder"), "{said}");
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("long.yaml");
        std::fs::write(&long, vec![b' '; FILE_BYTES_MAX + 1]).unwrap();
        let said = load(&long, Dialect::Safe, &args(&[], None)).unwrap_err().to_string();
        assert!(said.contains("a policy file of more than 1048576 bytes"), "{said}");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let said = load(&pipe, Dialect::Safe, &args(&[], None)).unwrap_err().to_string();
        assert!(said.contains("it is a pipe, which can be read only once"), "{said}");
        let said = load(Path::new("/dev/zero"), Dialect::Safe, &args(&[], None)).unwrap_err().to_string();
        assert!(said.contains("it is a device or a socket"), "{said}");
        let said = load(Path::new("-"), Dialect::Safe, &args(&[], None)).unwrap_err().to_string();
        assert!(said.contains("stdin is read for something else here"), "{said}");
        let policy = "framegate: 1\ntools:\n  pay: { schema: pipe }\n";
        let said = loaded(folder.path(), policy, &args(&[], None)).unwrap_err();
        assert!(said.contains("cannot read the schema `pipe`: it is a pipe"), "{said}");
    }

    #[test]
    fn warnings_carry_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let policy = loaded(folder.path(), "framegate: 1\n", &args(&[], None)).unwrap();
        assert_eq!(policy.warnings.len(), 1);
        assert!(
            policy.warnings[0].contains("p.yaml:1:1: warning: no tool is named"),
            "{:?}",
            policy.warnings
        );
    }
}
