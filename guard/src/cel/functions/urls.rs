//! URLs.

use super::{Call, Function, Gives, Style, Want};
use crate::cel::{Failure, Value};
use crate::link::{self, PathRule};

const S: Want = Want::STRING;
/// Characters of a URL that a message shows.
const SHOWN_CHARS: usize = 80;

pub(super) const TABLE: &[Function] = &[
    Function::new("host", Style::Plain, Gives::String, host).takes(&[S]).doc(
        "host(url) → string",
        "The host of an http(s) URL: lower case, IDNA, no port. User information, backslashes, control characters, \
         other schemes and odd spellings of addresses are errors.",
        "host(\"https://Bank.example:8443/pay\") == \"bank.example\"",
    ),
    Function::new("same_url", Style::Plain, Gives::Bool, same_url).takes(&[S, S]).doc(
        "same_url(url, allowed) → bool",
        "Whether both name one place: host (without www.), port, path, query, fragment. Where https is allowed, \
         http is not it. A text that readers do not all read as the same URL is an error.",
        "same_url(\"https://BANK.example:443/pay/\", \"bank.example/pay\") \
         && !same_url(\"http://bank.example/pay\", \"https://bank.example/pay\")",
    ),
    Function::new("url_within", Style::Plain, Gives::Bool, url_within).takes(&[S, S.or(Want::STRINGS)]).doc(
        "url_within(url, prefixes) → bool",
        "Whether the URL lies at or below a prefix, at borders of its path; a query may follow. A text that readers \
         do not all read as the same URL is an error.",
        "url_within(\"https://api.example/v1/x?q=1\", \"https://api.example/v1\") \
         && !url_within(\"https://api.example.evil.example/v1\", \"https://api.example/v1\")",
    ),
];

fn host<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let url = call.text(0)?;
    call.budget.spend_built(url.len().min(link::URL_BYTES_MAX))?;
    link::host(&url).map(Value::from).map_err(|reason| {
        let shown: String = url.chars().take(SHOWN_CHARS).collect();
        Failure::error(format!("it is not certain which host `{}` names: {reason}", shown.escape_debug()))
    })
}

fn same_url<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (url, allowed) = (call.text(0)?, call.text(1)?);
    call.budget.spend_built(url.len().saturating_add(allowed.len()))?;
    readable(&url)?;
    readable(&allowed)?;
    Ok(Value::Bool(link::same_url(&url, &allowed, PathRule::Exact)))
}

fn url_within<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (url, prefixes) = (call.text(0)?, call.texts(1)?);
    call.budget.spend_built(url.len())?;
    readable(&url)?;
    for prefix in &prefixes {
        call.budget.spend(1)?;
        call.budget.spend_built(url.len().saturating_add(prefix.len()))?;
        readable(prefix)?;
        if link::is_below(&url, prefix) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

/// A text that is no URL to every reader is like no other: but false would let `!url_within(..)` pass.
fn readable(url: &str) -> Result<(), Failure> {
    match link::parts(url) {
        Some(_) => Ok(()),
        None => {
            let shown: String = url.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
            Err(Failure::error(format!("`{shown}` is no URL that every reader reads alike")))
        }
    }
}
