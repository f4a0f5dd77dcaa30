//! The languages, a table each.
//!
//! To add one: copy the table of a language near to it, put the words in, name it here, and give it sentences in
//! `guard/tests/data/detect/`. `lexicon` says how words and rules are written.

mod en;
mod ru;

use super::lexicon::Language;

/// In order of importance within a kind.
pub(super) const LANGUAGES: &[&Language] = &[&en::LANGUAGE, &ru::LANGUAGE];
