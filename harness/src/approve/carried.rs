//! What a sealed state carries to another process: all that a yes needs there.
//!
//! It is sealed and not encrypted: the client knows all of it already, or was shown it.

use framegate_guard::decision::{Approval, Decision};
use framegate_guard::proposal::CallKey;
use framegate_guard::store::chain::Hash;
use serde::{Deserialize, Serialize};

use super::against::Against;
use super::rounds::Kept;

/// Bytes of it. A question that needs more is answered where it was asked.
const CARRIED_BYTES_MAX: usize = 64 * 1024;

/// What was asked, and what the server had asked before.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Carried {
    key: String,
    call: String,
    against: Vec<Against>,
    /// How often the call was asked about, this time included.
    pub(crate) asked: u32,
    /// When, in ms since 1970.
    pub(crate) since_ms: i64,
    state: Option<String>,
    responses: Option<String>,
}

impl Carried {
    /// As it is sealed; nothing where it is too long.
    pub(crate) fn of(decision: &Decision, asked: u32, since_ms: i64, kept: &Kept) -> Option<Vec<u8>> {
        let text = |bytes: &Option<bytes::Bytes>| {
            let text = bytes.as_ref().map(|bytes| String::from_utf8(bytes.to_vec()));
            text.transpose().ok()
        };
        let carried = Carried {
            key: decision.approval_key.clone(),
            call: Hash(*decision.call.as_bytes()).to_string(),
            against: Against::of(decision),
            asked,
            since_ms,
            state: text(&kept.state)?,
            responses: text(&kept.responses)?,
        };
        serde_json::to_vec(&carried).ok().filter(|bytes| bytes.len() <= CARRIED_BYTES_MAX)
    }

    /// What was sealed.
    pub(crate) fn read(bytes: &[u8]) -> Option<Carried> {
        serde_json::from_slice(bytes).ok()
    }

    /// What is the server's.
    pub(crate) fn kept(&self) -> Kept {
        let bytes = |text: &Option<String>| text.clone().map(bytes::Bytes::from);
        Kept { state: bytes(&self.state), responses: bytes(&self.responses) }
    }

    /// The yes to it.
    pub(crate) fn approval(&self, by: &str) -> Option<Approval> {
        Some(Approval {
            by: by.to_owned(),
            key: self.key.clone(),
            call: CallKey::from_bytes(self.call.parse::<Hash>().ok()?.0),
            call_id: None,
            findings: self.against.iter().map(Against::finding).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_guard::json::Document;

    #[test]
    fn what_is_carried_comes_back_up_to_a_limit() {
        let decision = Decision::refused("t", Some("1"), Document::empty_object().root(), "c", "no");
        let carried = |length: usize| {
            let kept = Kept { state: Some("s".repeat(length).into()), responses: Some("{}".into()) };
            (Carried::of(&decision, 2, 7, &kept), kept)
        };
        let (bytes, kept) = carried(3);
        let bytes = bytes.unwrap();
        let read = Carried::read(&bytes).unwrap();
        assert_eq!((read.asked, read.since_ms, read.kept()), (2, 7, kept));
        let approval = read.approval("u").unwrap();
        let findings: Vec<_> =
            approval.findings.iter().map(|finding| (&*finding.check, &*finding.reason)).collect();
        assert_eq!(
            (approval.call, &approval.key, findings),
            (decision.call, &decision.approval_key, vec![("c", "no")])
        );
        let rest = bytes.len() - 3;
        for (length, fits) in
            [(CARRIED_BYTES_MAX - 1, true), (CARRIED_BYTES_MAX, true), (CARRIED_BYTES_MAX + 1, false)]
        {
            assert_eq!(carried(length - rest).0.is_some(), fits, "{length}");
        }
    }
}
