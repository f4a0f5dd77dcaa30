//! What an approver signs, and whether it is about what is asked.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use framegate_guard::decision::{Decision, standing_key};
use framegate_guard::policy::Remember;
use framegate_guard::store::chain::Hash;
use serde::{Deserialize, Serialize};

use super::body::Body;

/// Before the text of a statement, so that none can pass for one of another kind.
const APPROVAL: &[u8] = b"framegate approval 1\n";
const STANDING: &[u8] = b"framegate standing approval 1\n";

/// A yes to one question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approval {
    /// The file in which it lies.
    pub(crate) desk: String,
    /// SHA-256 of the question's body. That has a random part: no yes is good for two.
    pub(crate) question: String,
    pub(crate) by: String,
    pub(crate) note: String,
    pub(crate) at_ms: i64,
}

/// A yes to calls that are still to come.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standing {
    pub(crate) desk: String,
    pub(crate) id: String,
    pub(crate) principal: String,
    pub(crate) session: String,
    /// The policy's digest: another policy, another question.
    pub(crate) policy: String,
    pub(crate) tool: String,
    pub(crate) scope: Scope,
    pub(crate) by: String,
    pub(crate) note: String,
    pub(crate) from_ms: i64,
    pub(crate) until_ms: i64,
}

/// Which calls of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Scope {
    /// [`Decision::standing_key`]: the same arguments, and the same against them.
    Arguments { key: String },
    /// Any arguments, against which nothing stands but some of these rules.
    Tool { rules: Vec<String> },
}

/// A text and its signature.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) text: String,
    pub(crate) signature: [u8; 64],
}

impl Signed {
    fn sign(prefix: &[u8], statement: &impl Serialize, key: &SigningKey) -> Result<Signed, String> {
        let text = serde_json::to_string(statement).map_err(|why| why.to_string())?;
        let signature = key.sign(&[prefix, text.as_bytes()].concat()).to_bytes();
        Ok(Signed { text, signature })
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, prefix: &[u8], key: &VerifyingKey) -> Option<T> {
        let signature = Signature::from_bytes(&self.signature);
        key.verify_strict(&[prefix, self.text.as_bytes()].concat(), &signature).ok()?;
        serde_json::from_str(&self.text).ok()
    }
}

impl Approval {
    pub(crate) fn sign(&self, key: &SigningKey) -> Result<Signed, String> {
        Signed::sign(APPROVAL, self, key)
    }

    /// The statement, if this key signed it, and it is about this question on this desk.
    pub(crate) fn read(signed: &Signed, key: &VerifyingKey, desk: &str, body: &str) -> Option<Approval> {
        let approval: Approval = signed.read(APPROVAL, key)?;
        (approval.desk == desk && approval.question == Body::digest(body)).then_some(approval)
    }
}

impl Standing {
    pub(crate) fn sign(&self, key: &SigningKey) -> Result<Signed, String> {
        Signed::sign(STANDING, self, key)
    }

    /// The statement, if this key signed it.
    pub(crate) fn read(signed: &Signed, key: &VerifyingKey) -> Option<Standing> {
        signed.read(STANDING, key)
    }

    /// Whether it covers what was decided, on this desk, at this time.
    pub(crate) fn covers(&self, of: &Asked<'_>, now_ms: i64) -> bool {
        let decision = of.decision;
        let is_here = self.desk == of.desk
            && self.principal == of.principal
            && self.session == of.session
            && self.tool == decision.tool
            && self.policy == Hash(decision.policy).to_string();
        let is_now = (self.from_ms..self.until_ms).contains(&now_ms);
        let is_it = match &self.scope {
            Scope::Arguments { key } => {
                of.remember != Remember::Never && *key == decision.standing_key().to_string()
            }
            Scope::Tool { rules } => {
                let known = |check: &String| rules.contains(check);
                of.remember == Remember::Tool
                    && decision.policy_only()
                    && decision.findings.iter().all(|finding| known(&finding.check))
            }
        };
        is_here && is_now && is_it
    }
}

/// A decision that asks, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) desk: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) session: &'a str,
    pub(crate) decision: &'a Decision,
    /// What the policy in force lets a standing approval cover.
    pub(crate) remember: Remember,
}

impl Scope {
    /// What a standing approval of this question covers.
    ///
    /// # Errors
    /// Why there can be none, for the person at the terminal.
    pub(crate) fn of(body: &Body, any_arguments: bool) -> Result<Scope, String> {
        match body.remember() {
            Remember::Never => {
                Err("the policy wants each call of this tool asked about (`remember: never`)".into())
            }
            _ if !body.is_named_whole() => Err(
                "the name of the server, its user or the tool is too long, or has characters that are not shown as they are, so each call is asked about".into(),
            ),
            Remember::Arguments if any_arguments => Err(
                "the policy lets a standing approval cover the same arguments only; `remember: tool` would let it cover all calls of the tool".into(),
            ),
            _ if !any_arguments => {
                let key = standing_key(&body.call()?, &body.findings()).to_string();
                Ok(Scope::Arguments { key })
            }
            _ if !body.policy_only() => Err(
                "not only rules of the policy ask about this call, so a standing approval covers the same arguments only".into(),
            ),
            _ => Ok(Scope::Tool { rules: body.findings().into_iter().map(|finding| finding.check).collect() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use framegate_guard::json::{Document, Limits};
    use framegate_guard::ledger::{SessionKey, Snapshot};
    use framegate_guard::policy::Policy;
    use framegate_guard::session::Session;
    use framegate_guard::world::NoWorld;
    use framegate_guard::{Call, Facts, Guard};

    use super::*;

    fn decide(rules: &str, arguments: &str) -> Decision {
        let text = format!(
            "framegate: 1\ndefault: allow\ndefaults: {{ arguments: unchecked }}\nfacts: {{ who: {{ type: string }} }}\nrules:\n{rules}"
        );
        let policy = Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
        let document = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        let call = Call { tool: "t", id: Some("1"), arguments: document.root() };
        Guard::new(policy, "s", Facts::default()).decide(
            &call,
            &Session::default(),
            &Snapshot::nothing(),
            &NoWorld,
        )
    }

    const ASKS: &str = "  - { name: a, that: 'false', otherwise: ask, because: A. }\n";
    const UNKNOWN: &str = "  - { name: b, that: facts.who == 'me', otherwise: ask, because: B. }\n";

    fn key() -> SessionKey {
        SessionKey { principal: "p".into(), name: "n".into() }
    }

    fn body(decision: &Decision, remember: Remember) -> Body {
        Body::of(decision, &key(), remember, 9).unwrap()
    }

    fn standing(decision: &Decision, scope: Scope) -> Standing {
        let [desk, id, principal, session, tool, by, note] =
            ["d", "i", "p", "n", "t", "u", ""].map(str::to_owned);
        let policy = Hash(decision.policy).to_string();
        Standing { desk, id, principal, session, policy, tool, scope, by, note, from_ms: 10, until_ms: 20 }
    }

    fn covers(standing: &Standing, decision: &Decision, remember: Remember) -> bool {
        standing.covers(&Asked { desk: "d", principal: "p", session: "n", decision, remember }, 15)
    }

    #[test]
    fn what_stands_covers_what_was_shown_and_only_in_its_time_and_place() {
        let shown = decide(ASKS, r#"{"n":1}"#);
        let scope = Scope::of(&body(&shown, Remember::Arguments), false).unwrap();
        let stands = standing(&shown, scope);
        let yes = |standing: &Standing| covers(standing, &shown, Remember::Arguments);
        assert!(yes(&stands) && covers(&stands, &decide(ASKS, r#"{ "n":1.0}"#), Remember::Tool));
        assert!(!covers(&stands, &shown, Remember::Never), "the policy takes it back");
        assert!(!covers(&stands, &decide(ASKS, r#"{"n":2}"#), Remember::Tool));
        let asked = Asked {
            desk: "d",
            principal: "p",
            session: "n",
            decision: &shown,
            remember: Remember::Arguments,
        };
        for (now, fine) in [(9, false), (10, true), (19, true), (20, false)] {
            assert_eq!(stands.covers(&asked, now), fine, "{now}");
        }
        let change = |change: fn(&mut Standing)| {
            let mut other = stands.clone();
            change(&mut other);
            other
        };
        for other in [
            change(|other| other.desk = "e".into()),
            change(|other| other.principal = "q".into()),
            change(|other| other.session = "m".into()),
            change(|other| other.tool = "u".into()),
            change(|other| other.policy = Hash::default().to_string()),
        ] {
            assert!(!yes(&other), "{other:?}");
        }
    }

    #[test]
    fn a_whole_tool_is_covered_only_while_nothing_but_the_same_rules_asks() {
        let shown = decide(ASKS, "{}");
        assert!(Scope::of(&body(&shown, Remember::Arguments), true).is_err());
        assert!(Scope::of(&body(&shown, Remember::Never), false).is_err());
        let unknown = decide(&format!("{ASKS}{UNKNOWN}"), "{}");
        assert!(Scope::of(&body(&unknown, Remember::Tool), true).is_err());
        assert!(Scope::of(&body(&unknown, Remember::Tool), false).is_ok());
        let scope = Scope::of(&body(&shown, Remember::Tool), true).unwrap();
        let at =
            |decision: &Decision, remember| covers(&standing(decision, scope.clone()), decision, remember);
        let other = decide(ASKS, r#"{"n":2}"#);
        assert!(at(&other, Remember::Tool));
        assert!(!at(&other, Remember::Arguments) && !at(&other, Remember::Never));
        assert!(!at(&unknown, Remember::Tool), "something could not be evaluated");
        let more = decide(&ASKS.replace("name: a", "name: c"), "{}");
        assert!(!at(&more, Remember::Tool), "another rule");
    }

    #[test]
    fn a_statement_is_of_its_kind_and_nothing_of_it_can_be_another() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let public = key.verifying_key();
        let body = body(&decide(ASKS, "{}"), Remember::Arguments).text().unwrap();
        let [desk, by, note] = ["d", "u", "n"].map(str::to_owned);
        let approval = Approval { desk, question: Body::digest(&body), by, note, at_ms: 1 };
        let signed = approval.sign(&key).unwrap();
        assert_eq!(Approval::read(&signed, &public, "d", &body), Some(approval));
        assert_eq!(Approval::read(&signed, &public, "e", &body), None);
        assert_eq!(Approval::read(&signed, &public, "d", &format!("{body} ")), None);
        assert_eq!(
            Approval::read(&signed, &SigningKey::from_bytes(&[8; 32]).verifying_key(), "d", &body),
            None
        );
        assert_eq!(Standing::read(&signed, &public), None);
        for at in 0..signed.text.len() {
            let mut text = signed.text.clone().into_bytes();
            text[at] ^= 1;
            let text = String::from_utf8(text).unwrap();
            assert_eq!(Approval::read(&Signed { text, ..signed.clone() }, &public, "d", &body), None);
        }
        for at in 0..64 {
            let mut other = signed.clone();
            other.signature[at] ^= 1;
            assert_eq!(Approval::read(&other, &public, "d", &body), None);
        }
    }
}
