//! Definitions that were evaluated already.

use super::Value;

use std::collections::BTreeMap;

/// Definitions that read definitions: a policy has no circles, this bounds the stack all the same.
pub(super) const DEPTH_MAX: usize = 32;

/// Values of definitions in one [`super::Env`]. Each is evaluated once: a definition that reads the one before
/// it twice would otherwise be worth two, and the tenth a thousand.
#[derive(Debug, Default)]
pub(crate) struct Memo<'a> {
    /// By variable and member; those that failed are [`Value::Missing`].
    pub(super) known: BTreeMap<(&'a str, &'a str), Value<'a>>,
    /// `depth <= DEPTH_MAX`
    pub(super) depth: usize,
}
