//! Matchers as Rust closures: where a text names a value, for what the policy's own do not know.
//!
//! A matcher is for one argument of some tools, in the place of what `ground` says of it. One that panics finds
//! nothing for certain, and asks.

use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::json::Value;
use crate::policy::provenance::Ground;
use crate::policy::{Glob, GlobError};

/// Gives the places, in bytes of the text, where it names the value.
pub type Find = dyn Fn(&str, Value<'_>) -> Vec<Range<usize>> + Send + Sync;

/// One matcher.
///
/// ```
/// use framegate_guard::RustMatcher;
///
/// // `42` is written as `order no. 42`.
/// let order = RustMatcher::new("order", ["pay_*"], "order_id", |text, value| {
///     let written = format!("order no. {}", value.raw());
///     text.match_indices(written.as_str()).map(|(at, found)| at..at + found.len()).collect()
/// })?;
/// assert!(order.names("shop", "pay_order"));
/// # Ok::<(), framegate_guard::policy::GlobError>(())
/// ```
#[derive(Clone)]
pub struct RustMatcher {
    /// Its name, for a record.
    pub name: String,
    /// The tools it is for; empty: every tool.
    pub tools: Vec<Glob>,
    /// The argument: a name, or a path into it.
    pub argument: String,
    /// Whose words count; its matcher is not asked.
    pub ground: Ground,
    /// Where a text names a value.
    pub find: Arc<Find>,
}

impl fmt::Debug for RustMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RustMatcher");
        out.field("name", &self.name).field("tools", &self.tools).field("argument", &self.argument);
        out.field("ground", &self.ground).finish_non_exhaustive()
    }
}

impl RustMatcher {
    /// A matcher for values from anyone's words.
    ///
    /// # Errors
    /// [`GlobError`] when a pattern is empty or too long.
    pub fn new<'t>(
        name: &str,
        tools: impl IntoIterator<Item = &'t str>,
        argument: &str,
        find: impl Fn(&str, Value<'_>) -> Vec<Range<usize>> + Send + Sync + 'static,
    ) -> Result<RustMatcher, GlobError> {
        Ok(RustMatcher {
            name: name.to_owned(),
            tools: tools.into_iter().map(Glob::parse).collect::<Result<_, _>>()?,
            argument: argument.to_owned(),
            ground: Ground::default(),
            find: Arc::new(find),
        })
    }

    /// Whether it is for this tool.
    #[must_use]
    pub fn names(&self, server: &str, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob.matches(server, tool))
    }

    /// The places that are places of the text; `None`: it panicked.
    pub(crate) fn find(&self, text: &str, value: Value<'_>) -> Option<Vec<Range<usize>>> {
        // Nothing of ours is left half done by a panic in here: the text is only read.
        let mut found = catch_unwind(AssertUnwindSafe(|| (self.find)(text, value))).ok()?;
        found.retain(|range| !range.is_empty() && text.get(range.clone()).is_some());
        Some(found)
    }
}
