//! What all languages but English and Russian have: the same few rules over their own words.
//!
//! | list | words | an example in English |
//! |---|---|---|
//! | `override` | verbs, as orders | ignore, forget |
//! | `instructions` | what is taken back | instructions, rules |
//! | `before` | the same without its name | all of the above |
//! | `system_note` | a label, before a colon | note from the system |
//! | `to_machine` | who is spoken to | to the assistant, as an AI |
//! | `in_answer` | dictated, whatever it is | in your answer, answer only with |
//! | `reveal`, `secret` | what is asked for | show, your instructions |
//! | `send`, `data` | and where an address follows | send, the passwords |

/// English words after which a verb is told of, not ordered: `ignore` and `instructions` are French, too.
pub(super) const TOLD: &[&str] = &[
    "to", "not", "can", "could", "may", "might", "will", "would", "cannot", "never", "which", "that", "they",
    "we", "it", "he", "she", "i", "don't", "who", "users", "a", "an",
];

/// A language in which the verb comes before what it is about (`first`) or after it (`last`).
macro_rules! language {
    ($code:literal, $script:ident, $order:ident, $($list:literal: $words:literal),+ $(,)?) => {
        use super::super::Kind::{Action, Address, Direct, Override, Role};
        use super::super::lexicon::{Language, Rule, Script, Texts::{All, Foreign, Outputs}};

        pub(super) const LANGUAGE: Language = Language {
            code: $code,
            script: Script::$script,
            lists: &[$(($list, $words)),+],
            parts: &[("address", r"(?:\b[\w.+-]+@[\w-]+\.\w+|https?://|www\.)")],
            rules: &[
                Rule::new(concat!("role-note.", $code), Role, All, r"<system_note>[^:\n]{0,24}:"),
                Rule::new(concat!("override.", $code), Override, All, language!($order "override" "instructions" 6))
                    .not_after(super::common::TOLD),
                Rule::new(concat!("override-before.", $code), Override, All, language!($order "override" "before" 4)),
                Rule::new(concat!("address.", $code), Address, Foreign, r"<to_machine>"),
                Rule::new(concat!("direct.", $code), Direct, Foreign, r"<in_answer>"),
                Rule::new(concat!("reveal.", $code), Direct, Foreign, language!($order "reveal" "secret" 5)),
                Rule::new(concat!("carry.", $code), Action, Outputs, language!($order carry)),
            ],
        };
    };
    (first $verb:literal $what:literal $gap:literal) => {
        concat!("<", $verb, r">(?:\W*|~", $gap, ")<", $what, ">")
    };
    (last $verb:literal $what:literal $gap:literal) => {
        concat!("<", $what, r">(?:\W*|~", $gap, ")<", $verb, ">")
    };
    (first carry) => { r"<send>(?:\W*|~6)<data>(?:\W*|~8)<address>|<data>(?:\W*|~4)<send>(?:\W*|~4)<address>" };
    (last carry) => { r"<data>(?:\W*|~8)<address>(?:.{0,40})<send>|<address>(?:.{0,40})<data>(?:\W*|~4)<send>" };
}
