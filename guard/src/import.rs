//! Configurations of other tools as policies.
//!
//! An import says the same as the old file, as far as a policy can, and names everything that it could not carry: a
//! protection that silently stayed behind would be worse than none.
//!
//! ```
//! use framegate_guard::import::elicitation_proxy;
//! let old = "upstream: { command: weather-server, args: [--fast] }\ntools: { forecast: { required: [city] } }\n";
//! let imported = elicitation_proxy("old.yaml", old.as_bytes(), "framegate.yaml")?;
//! assert!(imported.policy.contains("required: [\"city\"]"));
//! assert!(imported.client.unwrap().contains("\"command\": \"framegate\""));
//! assert!(imported.left.is_empty());
//! # Ok::<(), framegate_guard::policy::PolicyErrors>(())
//! ```

mod proxy;
mod values;
mod write;

use std::fmt;

pub use proxy::elicitation_proxy;
pub(crate) use write::quoted;

use crate::policy::PolicyErrors;

/// What an old configuration became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The policy file.
    pub policy: String,
    /// The entry of a client's configuration that replaces the old one, as JSON; nothing where the server cannot be
    /// reached yet.
    pub client: Option<String>,
    /// What was not carried over, in the order of the old file.
    pub left: Vec<Left>,
}

/// A policy of praxiom as one of our own. `name` stands in messages; `servers`: what its servers are called there,
/// nothing for those that its globs begin with.
///
/// ```
/// let old = "state: { tainted: { type: bool, init: false } }\nactions:\n  - { name: send, match: fs__send, requires: not tainted }\n";
/// let imported = framegate_guard::import::praxiom("old.yaml", old.as_bytes(), &[])?;
/// assert!(imported.policy.contains(r#"that: "!state.tainted""#));
/// # Ok::<(), framegate_guard::policy::PolicyErrors>(())
/// ```
///
/// # Errors
/// What is wrong with it; or that its globs name no server, and none was given.
pub fn praxiom(name: &str, text: &[u8], servers: &[String]) -> Result<Imported, PolicyErrors> {
    crate::praxiom::import(name, text, servers)
}

/// Something that was not carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its line in the old file, from 1.
    pub line: usize,
    /// The key, with those that lead to it.
    pub key: String,
    /// Why, and what that means.
    pub why: String,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}`: {}", self.line, self.key, self.why)
    }
}

#[cfg(test)]
mod tests;
