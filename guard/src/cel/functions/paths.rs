//! Where a path leads.

use super::{Call, Function, Gives, Style, Want};
use crate::cel::{Failure, Value};

const ROOT: Want = Want::STRING.or(Want::STRINGS);

pub(super) const TABLE: &[Function] = &[Function::new("within", Style::Plain, Gives::Bool, within)
    .takes(&[Want::STRING, ROOT])
    .more(ROOT)
    .doc(
        "within(path, root, …) → bool",
        "Whether the path leads to one of the roots or below: `..` and symbolic links resolved, relative paths \
         from the server's directory. A path with a backslash, a NUL, a percent-encoded dot, slash, backslash or \
         NUL, a leading `~` or a URL scheme, and the empty one, is an error: what it names depends on the server.",
        "within(args.path, \"/work\") && !within(\"/work/../etc/passwd\", \"/work\") && !within(\"/workshop\", \"/work\")",
    )];

fn within<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let path = call.text(0)?;
    call.budget.spend_read(path.len())?;
    if deceives(&path) {
        // Not false: `!within(..)` would let it pass.
        let shown: String = path.chars().take(120).flat_map(char::escape_debug).collect();
        let message = format!("`{shown}` names another place for some servers than for others");
        return Err(Failure::error(message));
    }
    let written = path;
    let path = resolve(call, &written)?;
    let plain = without_dots(&written).map(|plain| resolve(call, &plain)).transpose()?;
    let (mut is_within, mut is_plain_within) = (false, plain.is_none());
    for at in 1..call.args.len() {
        for root in call.texts(at)? {
            if deceives(&root) {
                return Err(Failure::error(format!("`{}` is not a folder's path", root.escape_debug())));
            }
            let root = resolve(call, &root)?;
            is_within |= is_below(&path, &root);
            is_plain_within |= plain.as_ref().is_some_and(|plain| is_below(plain, &root));
            if is_within && is_plain_within {
                return Ok(Value::Bool(true));
            }
        }
    }
    if plain.is_some() && is_within != is_plain_within {
        return Err(Failure::unknown(format!(
            "`..` behind a link in `{}`: some servers take it out of the text, others follow the link first",
            written.escape_debug()
        )));
    }
    Ok(Value::Bool(false))
}

fn resolve(call: &mut Call<'_, '_>, path: &str) -> Result<String, Failure> {
    /// Each name of a path is a look at the disk.
    const STEPS_PER_NAME: usize = 10;
    let names = 1 + memchr::memchr_iter(b'/', path.as_bytes()).count();
    call.budget.spend_items(names.saturating_mul(STEPS_PER_NAME))?;
    let resolved = call.env.world().real_path(path).map_err(|unknown| Failure::unknown(unknown.0))?;
    call.budget.spend_read(resolved.len())?;
    // A relative answer would make the comparison one of spellings.
    if !resolved.starts_with('/') {
        return Err(Failure::unknown(format!("it cannot be told where `{}` leads", path.escape_debug())));
    }
    Ok(resolved)
}

/// At borders of components: `/workshop` is not below `/work`.
fn is_below(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path as servers read it that take `..` out of its text before they look at the disk (Node's
/// `path.resolve`, Python's `normpath`); nothing when no name stands before a `..`.
fn without_dots(path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut differs = false;
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." && names.last().is_some_and(|last| *last != "..") {
            names.pop();
            differs = true;
        } else if part != ".." || !path.starts_with('/') {
            names.push(part);
        }
    }
    let root = if path.starts_with('/') { "/" } else { "./" };
    differs.then(|| format!("{root}{}", names.join("/")))
}

/// Some servers decode percent signs, expand `~`, take URLs or turn backslashes into slashes, others do not:
/// what such a path names depends on the reader, so nothing can be told of it.
fn deceives(path: &str) -> bool {
    path.is_empty()
        || path.trim() != path
        || path.starts_with('~')
        || path.contains(['\\', '\0'])
        || has_scheme(path)
        || path.split('%').skip(1).any(encodes_path_syntax)
}

/// What follows a percent sign; `25` is the sign itself, encoded once more.
fn encodes_path_syntax(mut rest: &str) -> bool {
    while let Some(again) = rest.strip_prefix("25") {
        rest = again;
    }
    let code = rest.get(..2).unwrap_or_default();
    ["2e", "2f", "5c", "00", "7e"].iter().any(|syntax| code.eq_ignore_ascii_case(syntax))
}

/// `file:/etc`, `file:///etc`, `https://x`; but `a:b` is a name that a file may have.
fn has_scheme(path: &str) -> bool {
    let trimmed = path.trim_start();
    let Some((scheme, rest)) = trimmed.split_once(':') else { return false };
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(letters);
    is_scheme && (rest.starts_with('/') || scheme.eq_ignore_ascii_case("file"))
}
