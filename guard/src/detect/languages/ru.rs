//! Russian.

use super::super::Kind;
use super::super::lexicon::{Language, Rule, Script, Texts};

pub(super) const LANGUAGE: Language =
    Language { code: "ru", script: Script::Alphabet, lists: LISTS, parts: &[], rules: RULES };

const LISTS: &[(&str, &str)] = &[
    ("override", "игнорируй*, забудь*, не учитыва*, не следу*, обойди*, не обраща* внимани*, не слуша*"),
    ("rules", "правил*, инструкц*, указани*, ограничени*, предыдущ*, пользовател*, запрет*"),
];

const RULES: &[Rule] = &[Rule::new("override.ru", Kind::Override, Texts::All, r"<override>~8<rules>")];
