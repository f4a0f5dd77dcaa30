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
