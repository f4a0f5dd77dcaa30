//! Russian.

use super::super::Kind;
use super::super::lexicon::{Language, Rule, Script, Texts};

pub(super) const LANGUAGE: Language =
    Language { code: "ru", script: Script::Alphabet, lists: LISTS, rules: RULES };

const LISTS: &[(&str, &[&str])] = &[
    (
        "override",
        &[
            "игнориру*",
            "забудь*",
            "не учитыва*",
            "не следу*",
            "обойди*",
            "не обраща* внимани*",
            "не слуша*",
            "отмени*",
        ],
    ),
    ("rules", &["правил*", "инструкц*", "указани*", "ограничени*", "предыдущ*", "пользовател*", "запрет*"]),
];

const RULES: &[Rule] =
    &[Rule { name: "override.ru", kind: Kind::Override, texts: Texts::All, pattern: r"<override>~8<rules>" }];
