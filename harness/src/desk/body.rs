//! A question as it lies on the desk: all that was decided on, so that whoever answers can see it, and sign what they
//! saw, without believing anything else in the file.

use bytes::Bytes;
use framegate_guard::decision::Decision;
use framegate_guard::finding::{Effect, Finding};
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::SessionKey;
use framegate_guard::policy::Remember;
use framegate_guard::proposal::CallKey;
use framegate_guard::store::chain::Hash;
use framegate_guard::store::entries::hash;
use serde::{Deserialize, Serialize};

use crate::approve::{Against, Question, Shown, is_shown_whole};

/// Bytes of arguments that are put on the desk.
pub(crate) const ARGUMENTS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    /// Random: two questions about the same are two.
    nonce: String,
    /// Whose session, and how it is called. Both are shown, and a standing approval is for both: a second name for the
    /// server, shown and not signed, once let a yes for one server pass at another.
    pub(crate) principal: String,
    pub(crate) session: String,
    /// The policy's digest.
    pub(crate) policy: String,
    pub(crate) tool: String,
    /// JSON text, as it would be sent.
    arguments: String,
    approval_key: String,
    /// What stands against the call.
    findings: Vec<Against>,
    remember: String,
    pub(crate) until_ms: i64,
}

const REMEMBER: [(&str, Remember); 3] =
    [("arguments", Remember::Arguments), ("never", Remember::Never), ("tool", Remember::Tool)];
fn name<T: PartialEq + Copy>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, other)| *other == value).map_or("", |(name, _)| name)
}

impl Body {
    /// The question about a decision that asks.
    ///
    /// # Errors
    /// Why it cannot be put there.
    pub(crate) fn of(
        decision: &Decision,
        key: &SessionKey,
        remember: Remember,
        until_ms: i64,
    ) -> Result<Body, String> {
        if decision.arguments.len() > ARGUMENTS_BYTES_MAX {
            let bytes = decision.arguments.len();
            return Err(format!("{bytes} bytes of arguments are too many to be asked about at a terminal"));
        }
        let mut nonce = Hash::default();
        crate::recorder::entropy(&mut nonce.0).map_err(|why| why.to_string())?;
        Ok(Body {
            nonce: nonce.to_string(),
            principal: key.principal.clone(),
            session: key.name.clone(),
            policy: Hash(decision.policy).to_string(),
            tool: decision.tool.clone(),
            arguments: String::from_utf8_lossy(&decision.arguments).into_owned(),
            approval_key: decision.approval_key.clone(),
            findings: Against::of(decision),
            remember: name(&REMEMBER, remember).to_owned(),
            until_ms,
        })
    }

    /// As it is kept and signed.
    pub(crate) fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|why| why.to_string())
    }

    /// SHA-256 of a body's text.
    pub(crate) fn digest(text: &str) -> String {
        hash(text.as_bytes()).to_string()
    }

    pub(crate) fn read(text: &str) -> Option<Body> {
        let body: Body = serde_json::from_str(text).ok()?;
        REMEMBER.iter().any(|(name, _)| *name == body.remember).then_some(body)
    }

    pub(crate) fn remember(&self) -> Remember {
        REMEMBER.iter().find(|(name, _)| *name == self.remember).map_or(Remember::Never, |(_, it)| *it)
    }

    /// What stands against the call.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.findings.iter().map(Against::finding).collect()
    }

    /// Nothing but rules ask, and all of them could be evaluated.
    pub(crate) fn policy_only(&self) -> bool {
        self.findings().iter().all(|finding| finding.is_rule && finding.effect == Effect::Ask)
    }

    /// The names are shown as they are.
    pub(crate) fn is_named_whole(&self) -> bool {
        [&self.principal, &self.session, &self.tool].into_iter().all(|name| is_shown_whole(name))
    }

    /// The call by value.
    pub(crate) fn call(&self) -> Result<CallKey, String> {
        let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
        let arguments = Document::read(self.arguments.clone().into(), &limits);
        let arguments =
            arguments.map_err(|why| format!("the arguments of this call cannot be read: {why}"))?;
        Ok(CallKey::of(&self.tool, arguments.root()))
    }

    /// What the person at the terminal is shown, made from this body and nothing else.
    pub(crate) fn question(&self) -> Question {
        Question::shown(&Shown {
            server: &self.session,
            principal: &self.principal,
            tool: &self.tool,
            arguments: Bytes::from(self.arguments.clone()),
            findings: &self.findings(),
            approval_key: &self.approval_key,
        })
    }
}

#[cfg(test)]
mod tests {
    use framegate_guard::Decision;
    use framegate_guard::json::Document;

    use super::*;
    use crate::desk::signed::Scope;

    #[test]
    fn what_is_shown_is_what_is_signed_and_a_second_name_is_refused() {
        let arguments = Document::empty_object();
        let decision = Decision::refused("t", None, arguments.root(), "c", "no");
        let body = |principal: &str, name: &str| {
            let key = SessionKey { principal: principal.into(), name: name.into() };
            Body::of(&decision, &key, Remember::Arguments, 1).unwrap()
        };
        let text = body("local", "prod").question().text();
        assert!(text.contains("\nserver: prod\narguments"), "{text}");
        let text = body("bob", "prod").question().text();
        assert!(text.contains("\nserver: prod\nfor: bob\narguments"), "{text}");
        let planted = body("local", "prod").text().unwrap().replacen('{', r#"{"server":"sandbox","#, 1);
        assert_eq!(Body::read(&planted), None);
        // A name that is cut could be another's.
        for (length, fine) in [(127, true), (128, true), (129, false)] {
            let long = "x".repeat(length);
            for body in [body("local", &long), body(&long, "s")] {
                assert_eq!(Scope::of(&body, false).is_ok(), fine, "{length}");
            }
        }
        for name in ["a  b", " a", "a\nb", "p\u{430}y", "a\u{200b}"] {
            assert!(Scope::of(&body("local", name), false).is_err(), "{name:?} passes for another");
        }
    }

    #[test]
    fn arguments_have_a_limit_and_no_two_questions_are_one() {
        let key = SessionKey { principal: "p".into(), name: "n".into() };
        let of = |length: usize| {
            let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(length - r#"{"a":""}"#.len()));
            let arguments = Document::read(text.into(), &Limits::default()).unwrap();
            let decision = Decision::refused("t", None, arguments.root(), "c", "no");
            Body::of(&decision, &key, Remember::Never, 1)
        };
        for (length, fits) in
            [(ARGUMENTS_BYTES_MAX - 1, true), (ARGUMENTS_BYTES_MAX, true), (ARGUMENTS_BYTES_MAX + 1, false)]
        {
            assert_eq!(of(length).is_ok(), fits, "{length}");
        }
        let (one, other) = (of(20).unwrap(), of(20).unwrap());
        assert_ne!(one.text().unwrap(), other.text().unwrap());
        assert_eq!(Body::read(&one.text().unwrap()), Some(one));
    }
}
