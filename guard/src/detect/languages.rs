//! The languages, a table each.
//!
//! To add one: copy the table of a language near to it, put the words in (Latin letters without their marks, `e` for `é`,
//! since a text is read so; a test says where one is left), name it here, and give it sentences in
//! `guard/tests/data/detect/languages.jsonl`: some that are orders, and some that sound like them and are none.
//! `lexicon` says how words and rules are written.

#[macro_use]
mod common;

mod ar;
mod de;
mod en;
mod es;
mod fr;
mod hi;
mod it;
mod ja;
mod ko;
mod nl;
mod pl;
mod pt;
mod ru;
mod tr;
mod uk;
mod zh;

use super::lexicon::Language;

/// In order of importance within a kind.
pub(super) const LANGUAGES: &[&Language] = &[
    &en::LANGUAGE,
    &ru::LANGUAGE,
    &de::LANGUAGE,
    &fr::LANGUAGE,
    &es::LANGUAGE,
    &pt::LANGUAGE,
    &it::LANGUAGE,
    &nl::LANGUAGE,
    &pl::LANGUAGE,
    &uk::LANGUAGE,
    &tr::LANGUAGE,
    &zh::LANGUAGE,
    &ja::LANGUAGE,
    &ko::LANGUAGE,
    &ar::LANGUAGE,
    &hi::LANGUAGE,
];
