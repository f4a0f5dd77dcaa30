//! URLs, read strictly: what two readers could take for different places is no URL here.

mod fuzz;

#[doc(hidden)]
pub use fuzz::fuzz;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

/// The longest text that is looked at as a URL, in bytes.
pub const URL_BYTES_MAX: usize = 16 * 1024;

/// The longest host that is brought into ASCII, in bytes: the work grows with its square, and a name has at most
/// 253 characters.
pub const HOST_BYTES_MAX: usize = 1024;

/// How a URL begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
}

/// The parts of a web address as people write it, with or without a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Lower case, IDNA, without trailing dots and one leading `www.`.
    pub host: String,
    /// Unless it is 80 or 443.
    pub port: Option<u16>,
    /// As written, without trailing slashes.
    pub path: String,
    /// After the `?`, as written.
    pub query: String,
    /// After the `#`, as written.
    pub fragment: String,
    /// If it was written.
    pub scheme: Option<Scheme>,
}

/// How far the paths of two URLs have to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRule {
    /// Equal.
    Exact,
    /// Equal, or the value continues at a `/`.
    Prefix,
}

/// Reads a web address. `None` for anything that is not certain: other schemes, user information, control,
/// format and space characters, backslashes, dot segments, odd hosts and ports.
#[must_use]
pub fn parts(text: &str) -> Option<Parts> {
    // Also the separators that Python strips.
    let text = text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
    if text.is_empty() || text.len() > URL_BYTES_MAX || text.contains(misleads) {
        return None;
    }
    let (scheme, rest) = split_scheme(text)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (host, port) = split_authority(authority)?;
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path.split('/').any(is_dot_segment) {
        return None;
    }
    Some(Parts {
        host: host_name(host)?,
        port,
        path: path.trim_end_matches('/').to_owned(),
        query: query.to_owned(),
        fragment: fragment.to_owned(),
        scheme,
    })
}

/// Whether a value names the place that was written: host, port, query and fragment equal, the path by the
/// rule. Where https was written the value must say https; where nothing was written anything fits.
#[must_use]
pub fn same_url(value: &str, written: &str, rule: PathRule) -> bool {
    let (Some(value), Some(written)) = (parts(value), parts(written)) else { return false };
    same_parts(&value, &written, rule)
}

/// The same of what was read already.
pub(crate) fn same_parts(value: &Parts, written: &Parts, rule: PathRule) -> bool {
    value.query == written.query && value.fragment == written.fragment && leads_to(value, written, rule)
}

/// Whether a URL lies below a prefix: like [`same_url`] by prefix, but a query or fragment may follow where the
/// prefix has none.
#[must_use]
pub fn is_below(value: &str, prefix: &str) -> bool {
    let (Some(value), Some(prefix)) = (parts(value), parts(prefix)) else { return false };
    let free = |written: &str, value: &str| written.is_empty() || written == value;
    free(&prefix.query, &value.query)
        && free(&prefix.fragment, &value.fragment)
        && leads_to(&value, &prefix, PathRule::Prefix)
}

/// The host of an http or https URL: lower case, IDNA, without user information, port and trailing dot.
///
/// # Errors
/// Why it is not certain which host it is.
pub fn host(text: &str) -> Result<String, &'static str> {
    if text.len() > URL_BYTES_MAX {
        return Err("it is too long");
    }
    if text.contains(misleads) {
        return Err("it holds a space, a control character or a backslash");
    }
    let rest = match text.split_once("://") {
        Some((scheme, rest)) if scheme_of(scheme).is_some() => rest,
        _ => return Err("it does not begin with http:// or https://"),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("it holds user information");
    }
    let written = split_authority(authority).ok_or("its host or port is malformed")?.0;
    // The web's own parser, for what a browser or a fetching server makes of it.
    let read = ::url::Url::parse(text).map_err(|_| "its host or port is malformed")?;
    let same_address = match read.host() {
        Some(::url::Host::Ipv4(address)) => written.trim_end_matches('.') == address.to_string(),
        Some(::url::Host::Ipv6(_) | ::url::Host::Domain(_)) => true,
        None => false,
    };
    // 0x7f.1 and 2130706433 are 127.0.0.1 to some readers and names to others.
    if !same_address {
        return Err("its address is written in an unusual way");
    }
    let host = read.host_str().unwrap_or_default();
    Ok(host.trim_end_matches('.').to_owned())
}

fn misleads(character: char) -> bool {
    character == '\\'
        || character.is_whitespace()
        || character.is_control()
        || get_general_category(character) == GeneralCategory::Format
}

fn scheme_of(text: &str) -> Option<Scheme> {
    match text {
        _ if text.eq_ignore_ascii_case("http") => Some(Scheme::Http),
        _ if text.eq_ignore_ascii_case("https") => Some(Scheme::Https),
        _ => None,
    }
}

fn split_scheme(text: &str) -> Option<(Option<Scheme>, &str)> {
    if let Some((scheme, rest)) = text.split_once("://")
        && let Some(scheme) = scheme_of(scheme)
    {
        return Some((Some(scheme), rest));
    }
    if text.starts_with("//") {
        return None;
    }
    let Some((before, after)) = text.split_once(':') else { return Some((None, text)) };
    let first = |byte: u8| byte.is_ascii_alphabetic();
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = before.bytes().next().is_some_and(first) && before.bytes().all(letter);
    // `localhost:3000` is no scheme, `data:1` would be a port: what follows decides.
    let port = after.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (!is_scheme || is_port).then_some((None, text))
}

fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let splits = ['/', '?', '#', '@', ':'];
    // Full-width forms of these would cut the authority elsewhere once somebody normalises it.
    let odd = |c: &char| !c.is_ascii() && std::iter::once(*c).nfkc().any(|c| splits.contains(&c));
    if authority.contains('@') || authority.chars().any(|c| odd(&c)) {
        return None;
    }
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        (host, if after.is_empty() { "" } else { after.strip_prefix(':')? })
    } else {
        authority.split_once(':').unwrap_or((authority, ""))
    };
    if host.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let port = if port.is_empty() { None } else { Some(port.parse::<u16>().ok()?) };
    Some((host, port.filter(|port| !matches!(port, 80 | 443))))
}

fn is_dot_segment(segment: &str) -> bool {
    let dots = segment.to_ascii_lowercase().replace("%2e", ".");
    dots == "." || dots == ".."
}

fn host_name(host: &str) -> Option<String> {
    if host.parse::<Ipv6Addr>().is_ok() {
        return Some(host.to_ascii_lowercase());
    }
    let dots = |c: char| matches!(c, '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}');
    let host = host.trim_end_matches(dots);
    let host = if host.is_ascii() { host.to_ascii_lowercase() } else { idna_2003(host)? };
    if host.parse::<Ipv4Addr>().is_ok() {
        return Some(host);
    }
    if !(host.contains('.') || host == "localhost") || host.len() > 253 || !host.split('.').all(is_label) {
        return None;
    }
    let bare = host.strip_prefix("www.").filter(|bare| bare.contains('.'));
    Some(bare.map_or(host.clone(), str::to_owned))
}

fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| inner(byte) && byte != b'-');
    label.len() <= 63 && label.bytes().all(inner) && edge(label.bytes().next()) && edge(label.bytes().last())
}

/// Where IDNA 2003 and its successors differ, the older reading: a name in ß is the one in ss, so that neither
/// reads as the other one's confirmation elsewhere.
fn idna_2003(host: &str) -> Option<String> {
    if host.len() > HOST_BYTES_MAX {
        return None;
    }
    let mapped: Cow<'_, str> = if host.contains(['ß', 'ς']) {
        Cow::Owned(host.replace('ß', "ss").replace('ς', "σ"))
    } else {
        Cow::Borrowed(host)
    };
    let deny = AsciiDenyList::EMPTY;
    let ascii = Uts46::new().to_ascii(mapped.as_bytes(), deny, Hyphens::Allow, DnsLength::Ignore);
    ascii.ok().map(|ascii| ascii.to_ascii_lowercase())
}

fn leads_to(value: &Parts, written: &Parts, rule: PathRule) -> bool {
    let scheme = match written.scheme {
        Some(Scheme::Https) => value.scheme == Some(Scheme::Https),
        Some(Scheme::Http) | None => true,
    };
    let path = match value.path.strip_prefix(written.path.as_str()) {
        Some("") => true,
        Some(rest) => rule == PathRule::Prefix && rest.starts_with('/'),
        None => false,
    };
    scheme && path && value.host == written.host && value.port == written.port
}

#[cfg(test)]
mod tests;
