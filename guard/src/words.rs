//! What a person agreed to, took back, or asked for, in their own words.
//!
//! Three questions: is this message a yes ([`accepts`]); did the user accept a message of the assistant's that
//! names what the call does ([`confirmed`]); did the user ask for such a thing at all ([`asks_for`]). The words are
//! tables, one language a file (`words/language/`), that anybody may add to.
//!
//! A yes must be one in doubt too: a question is no consent, nor is a yes that the same message takes back.
//!
//! ```
//! use framegate_guard::ground::{Match, Matcher, Prepared};
//! use framegate_guard::json::{Document, Limits};
//! use framegate_guard::messages::Role;
//! use framegate_guard::words::{self, How, Said, Wanted};
//!
//! let texts = ["Shall I pay 25 EUR to Kim?", "Yes, go ahead."].map(Prepared::new);
//! let said = [Role::Assistant, Role::User].map(Some).into_iter().zip(&texts);
//! let said: Vec<Said<'_>> = said.map(|(role, text)| Said { role, text }).collect();
//! let call = Document::read(r#"{"to":"Kim","amount":250}"#.into(), &Limits::default())?;
//! let wanted: Vec<Wanted<'_>> = words::wanted(call.root());
//! let confirmed = words::confirmed(&said, &wanted, &How::from(Matcher::from(Match::Nocase)));
//! assert_eq!(confirmed.missing, ["amount"]);
//! # Ok::<(), framegate_guard::json::Fault>(())
//! ```

mod accept;
mod another;
mod confirm;
mod deed;
mod intent;
mod language;
mod read;
mod spoken;

use crate::ground::Prepared;
use crate::messages::Role;

pub use accept::accepts;
pub use confirm::{Confirmed, How, WANTED_MAX, Wanted, accepted, confirmed, named, wanted};
pub use deed::Deed;
pub use intent::{Intent, PHRASE_BYTES_MAX, PHRASES_MAX, PhraseError, asks_for};

/// One message, with who said it.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// `None` for a role nobody knows: no one's words.
    pub role: Option<Role>,
    /// What was said.
    pub text: &'a Prepared,
}
