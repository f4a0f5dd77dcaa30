//! Names that say "a credential": read as words, whatever their spelling (`apiKey`, `API-KEY`, `api key`, `apikey`).

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use framegate_guard::json::Value;

/// Longer ones are no names.
pub(super) const NAME_BYTES_MAX: usize = 128;

/// What under a name is a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Strings and numbers. (A boolean or a null tells nothing.)
    Anything,
    /// Strings: a number there is a count, a size, an identifier.
    Strings,
}

/// Whatever stands under these, as a word of a name.
const ANYTHING: &[&str] = &[
    "apikey",
    "creds",
    "credential",
    "credentials",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "psk",
    "pw",
    "pwd",
    "secret",
    "token",
    "totp",
];

/// Strings under these.
const STRINGS: &[&str] = &[
    "apikeys",
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "csrf",
    "jwt",
    "oauth",
    "passwords",
    "secrets",
    "sessionid",
    "sid",
    "sig",
    "tokens",
    "xsrf",
];

/// Names written as one word (`clientsecret`, `authtoken`) end with one of these.
const ENDS: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "authkey",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "sessionid",
    "sessionkey",
    "token",
];

/// Before `key` or `keys`: what a key that opens something is called. (`public`, `primary`, `sort` are not here.)
const OPENING: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "auth",
    "client",
    "consumer",
    "deploy",
    "encryption",
    "functions",
    "host",
    "license",
    "master",
    "private",
    "root",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "ssh",
    "storage",
    "subscription",
];

/// As the last word: it is something about the credential, not the credential.
const ABOUT: &[&str] = &[
    "age",
    "alg",
    "algorithm",
    "at",
    "budget",
    "cost",
    "count",
    "counts",
    "description",
    "dir",
    "enabled",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "field",
    "fields",
    "file",
    "filename",
    "format",
    "hint",
    "in",
    "index",
    "issuer",
    "kind",
    "label",
    "len",
    "length",
    "limit",
    "limits",
    "manager",
    "method",
    "methods",
    "mode",
    "name",
    "names",
    "path",
    "policies",
    "policy",
    "position",
    "price",
    "provider",
    "rate",
    "required",
    "scheme",
    "size",
    "status",
    "store",
    "strategy",
    "strength",
    "ttl",
    "type",
    "types",
    "uri",
    "url",
    "usage",
    "used",
    "version",
];

/// Beside `token` and `tokens`: pieces of text, or of a listing.
const NO_TOKEN: &[&str] = &[
    "average",
    "avg",
    "bos",
    "cached",
    "completion",
    "continuation",
    "count",
    "eos",
    "input",
    "max",
    "min",
    "n",
    "next",
    "num",
    "number",
    "output",
    "pad",
    "page",
    "per",
    "prompt",
    "reasoning",
    "remaining",
    "stop",
    "total",
    "unk",
];

/// Without one of these there is no name of a credential. (`api_key`, `session id`: the pairs' words too.)
pub(super) const NEEDLES: &[&str] = &[
    "auth",
    "bearer",
    "connection",
    "cookie",
    "cred",
    "csrf",
    "jwt",
    "key",
    "otp",
    "pass",
    "psk",
    "pw",
    "secret",
    "session",
    "sid",
    "sig",
    "token",
    "xsrf",
];

fn needles() -> Option<&'static AhoCorasick> {
    static ALL: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || AhoCorasick::builder().ascii_case_insensitive(true).build(NEEDLES).ok();
    ALL.get_or_init(build).as_ref()
}

/// Whether a text may have such a name in it: quick, and never wrong about a no.
pub(super) fn may_be_in(text: &[u8]) -> bool {
    needles().is_none_or(|needles| needles.is_match(text))
}

/// Where such a name may stand.
pub(super) fn candidates(text: &str) -> impl Iterator<Item = usize> {
    needles().into_iter().flat_map(move |needles| needles.find_iter(text).map(|found| found.start()))
}

/// Whether a member of this name says what its sibling is: `{"name":"TOKEN","value":…}`.
pub(super) fn names(key: &str) -> bool {
    ["name", "key", "header", "field", "variable", "var", "param", "parameter", "env"]
        .iter()
        .any(|word| key.eq_ignore_ascii_case(word))
}

/// Whether a member of this name is what its sibling names.
pub(super) fn values(key: &str) -> bool {
    ["value", "values", "val", "content", "data", "text", "default"]
        .iter()
        .any(|word| key.eq_ignore_ascii_case(word))
}

/// Whether an object says what a value looks like, as a tool's schema does for an argument `token`.
pub(super) fn is_schema(object: Value<'_>) -> bool {
    const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];
    let names = |value: Value<'_>| value.as_str().is_some_and(|name| TYPES.contains(&name));
    object.get("type").is_some_and(|kind| names(kind) || !kind.is_empty() && kind.items().all(names))
}

/// Whether a member of a schema is about the value, and holds none.
pub(super) fn describes(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "$ref",
        "$schema",
        "contentEncoding",
        "description",
        "format",
        "pattern",
        "required",
        "title",
        "type",
    ];
    WORDS.contains(&name)
        || ["min", "max", "exclusive", "multiple"].iter().any(|start| name.starts_with(start))
}

/// Whether a name says that a credential lies under it.
pub(super) fn holds(name: &str) -> Option<Holds> {
    // `/etc/passwd` is a path, not a name.
    if name.len() > NAME_BYTES_MAX || name.contains('/') || !may_be_in(name.as_bytes()) {
        return None;
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.len() > 1 && words.last().is_some_and(|last| ABOUT.contains(last)) {
        return None;
    }
    let is_counted = words.iter().any(|word| NO_TOKEN.contains(word));
    let single = words.iter().filter_map(|word| single(word, is_counted));
    let pair = words.windows(2).filter_map(pair);
    let holds = single.chain(pair).min_by_key(|holds| *holds as u8)?;
    // `token_ids` are numbers of words.
    Some(if words.last() == Some(&"ids") { Holds::Strings } else { holds })
}

fn single(word: &str, is_counted: bool) -> Option<Holds> {
    if is_counted && matches!(word, "token" | "tokens") {
        return None;
    }
    if ANYTHING.contains(&word) || ENDS.iter().any(|end| word.ends_with(end)) {
        return Some(Holds::Anything);
    }
    STRINGS.contains(&word).then_some(Holds::Strings)
}

fn pair(words: &[&str]) -> Option<Holds> {
    match words {
        [opening, "key" | "keys"] if OPENING.contains(opening) => Some(Holds::Anything),
        ["pass", "word" | "phrase" | "code"] => Some(Holds::Anything),
        ["session", "id"] | ["connection", "string"] => Some(Holds::Strings),
        _ => None,
    }
}

/// Lower-case words: split at everything that is no letter or digit, and where capitals begin a word; numbers at
/// the end of a word are not part of it (`password2`).
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = name.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let is_next_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = c.is_uppercase() && (!before.is_uppercase() || is_next_small);
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    for word in &mut words {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        word.truncate(letters);
    }
    words.retain(|word| !word.is_empty());
    words
}
