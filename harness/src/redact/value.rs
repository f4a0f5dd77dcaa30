//! Values that look like credentials whatever they are called.
//!
//! The formats are those that issuers publish for scanners; which of them are worth a row is taken from the rules
//! of gitleaks (github.com/gitleaks/gitleaks, MIT), without those that need a name beside the value ([`super::key`]
//! knows names) and with shorter lengths: an invented or cut one should not show either.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use regex::Regex;

/// One format: what must be in a text for it to be looked for, and how it looks. Group 1 is the credential, where
/// there is one; else all of it.
struct Format {
    needles: &'static [&'static str],
    pattern: &'static str,
}

const fn format(needles: &'static [&'static str], pattern: &'static str) -> Format {
    Format { needles, pattern }
}

const FORMATS: &[Format] = &[
    // AWS.
    format(
        &["a3t", "akia", "asia", "abia", "acca"],
        r"(?-u:\b)(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}",
    ),
    // GitHub.
    format(
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{10,}",
    ),
    // GitLab.
    format(&["gl"], r"(?-u:\b)gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[A-Za-z0-9_.-]{10,}"),
    // Slack, Discord, Teams.
    format(&["xox", "xapp-"], r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{8,}"),
    format(
        &["hooks.slack.com", "/api/webhooks/", "webhook.office.com"],
        r#"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks|webhook\.office\.com)/([^\s"'<>]+)"#,
    ),
    // Stripe.
    format(&["sk_", "rk_", "whsec_"], r"(?-u:\b)(?:[sr]k_(?:live|test|prod)_|whsec_|sk_)[A-Za-z0-9+/=]{8,}"),
    // OpenAI, Anthropic, OpenRouter, and who else writes sk-…
    format(&["sk-"], r"(?-u:\b)sk-[A-Za-z0-9_-]{12,}"),
    // Models: Groq, Hugging Face, NVIDIA, Perplexity, Replicate, xAI.
    format(
        &["gsk_", "hf_", "nvapi-", "pplx-", "r8_", "xai-"],
        r"(?-u:\b)(?:gsk_|hf_|nvapi-|pplx-|r8_|xai-)[A-Za-z0-9_-]{20,}",
    ),
    // Google.
    format(&["aiza"], r"AIza[A-Za-z0-9_-]{20,}"),
    format(&["ya29.", "gocspx-", "1//0"], r"(?:ya29\.|GOCSPX-|(?-u:\b)1//0)[A-Za-z0-9_-]{10,}"),
    // Signed and encrypted web tokens.
    format(&["eyj"], r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){2,4}"),
    // Private keys; one that has no end is one to the end.
    format(
        &["private key"],
        r"(?s)-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    format(&["age-secret-key-"], r"(?i)AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    // Headers.
    format(&["bearer"], r"(?i)(?-u:\b)bearer[ \t]+([A-Za-z0-9._~+/=-]{6,})"),
    format(&["basic"], r"(?i)(?-u:\b)basic[ \t]+([A-Za-z0-9+/_-]{6,}={0,2})"),
    // Registries: npm, PyPI, RubyGems, Docker.
    format(
        &["npm_", "pypi-", "rubygems_", "dckr_"],
        r"(?-u:\b)(?:npm_|pypi-|rubygems_|dckr_(?:pat|oat)_)[A-Za-z0-9_-]{16,}",
    ),
    // Clouds and services with a prefix of their own.
    format(
        &[
            "atatt3", "dapi", "dop_v1_", "doo_v1_", "dp.pt.", "figd_", "glsa_", "lin_api_", "ntn_",
            "ops_eyj", "pmak-", "sbp_", "secret_", "sg.", "shp", "sntrys_", "sq0", "tskey-",
        ],
        r"(?-u:\b)(?:ATATT3|dapi|do[op]_v1_|dp\.pt\.|figd_|glsa_|lin_api_|ntn_|ops_eyJ|PMAK-|sbp_|secret_|SG\.|shp(?:at|ca|pa|ss)_|sntrys_|sq0[a-z]{3}-|tskey-)[A-Za-z0-9._=-]{20,}",
    ),
    format(&["hvs.", "hvb.", "hvr."], r"(?-u:\b)hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    format(&["q~"], r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{25,}"),
    format(&[":aa"], r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    format(&["key-", "sk"], r"(?-u:\b)(?:key-|SK)[0-9a-f]{32}(?-u:\b)"),
    // A password in an address. A port is none.
    format(&["://", ":\\/\\/"], r#"://[^\s/:@"'<>\[]*:(?:[0-9]{1,5}(?:[/?\#\s"'<>,;)]|\z)|([^\s"'<>]+)@)"#),
];

/// The row whose matches are looked at again: base64 of `user:password`.
const BASIC: &str = "basic";

struct Needles {
    all: AhoCorasick,
    /// The format of each needle.
    rows: Vec<usize>,
}

fn needles() -> Option<&'static Needles> {
    static ALL: OnceLock<Option<Needles>> = OnceLock::new();
    let build = || {
        let each = FORMATS.iter().enumerate();
        let all: Vec<(usize, &str)> =
            each.flat_map(|(row, format)| format.needles.iter().map(move |needle| (row, *needle))).collect();
        let mut builder = AhoCorasick::builder();
        let words = all.iter().map(|(_, needle)| *needle);
        let found = builder.ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(words).ok()?;
        Some(Needles { all: found, rows: all.iter().map(|(row, _)| *row).collect() })
    };
    ALL.get_or_init(build).as_ref()
}

/// Compiled when it is first needed: most sessions meet none.
fn pattern(row: usize) -> Option<&'static Regex> {
    static ALL: [OnceLock<Option<Regex>>; FORMATS.len()] = [const { OnceLock::new() }; FORMATS.len()];
    ALL.get(row)?.get_or_init(|| Regex::new(FORMATS.get(row)?.pattern).ok()).as_ref()
}

/// What is in every text that has one, in lower case.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().flat_map(|format| format.needles.iter().copied())
}

/// Whether a text may have one in it: quick, and never wrong about a no. Also for JSON text, where `/` may be
/// escaped.
pub(super) fn may_be_in(text: &[u8]) -> bool {
    needles().is_none_or(|needles| needles.all.is_match(text))
}

/// Where they stand.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(needles) = needles() else { return };
    let mut rows = 0_u64;
    for needle in needles.all.find_overlapping_iter(text) {
        rows |= needles.rows.get(needle.pattern().as_usize()).map_or(0, |row| 1 << row);
    }
    for row in (0..FORMATS.len()).filter(|row| rows & (1 << row) != 0) {
        let Some(pattern) = pattern(row) else { continue };
        let is_basic = FORMATS.get(row).is_some_and(|format| format.needles.contains(&BASIC));
        for captures in pattern.captures_iter(text) {
            let group = if pattern.captures_len() > 1 { captures.get(1) } else { captures.get(0) };
            let Some(group) = group.filter(|group| !is_basic || is_user_and_password(group.as_str())) else {
                continue;
            };
            found.push(group.range());
        }
    }
}

/// "Basic training" is none.
fn is_user_and_password(word: &str) -> bool {
    let word = word.trim_end_matches('=');
    let standard = base64::engine::general_purpose::STANDARD_NO_PAD.decode(word);
    let decoded = standard.or_else(|_| base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(word));
    decoded.is_ok_and(|bytes| bytes.contains(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_a_bit() {
        assert!(FORMATS.len() <= 64);
        for (row, format) in FORMATS.iter().enumerate() {
            assert!(pattern(row).is_some(), "{}", format.pattern);
        }
    }
}
