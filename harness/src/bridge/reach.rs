//! How a person is reached: by a request to a client with a handshake, by a result where each request says what
//! its client can, or by another harness's own way.

use std::sync::Arc;
use std::time::Duration;

use framegate_guard::form::Revision;
use framegate_guard::json::Value;
use framegate_pump::{Frame, Injector, Request};
use serde::Deserialize;

use super::answers::Answer;
use super::asking::Asked;
use super::shared::Inner;
use super::terminal::NOT_LET;
use crate::approve::{Asker, Asking, Carrier, Filled, Filling, FormQuestion, Question, Reply};
use crate::mcp;
use crate::wire;

/// The deadline that the client's answer is waited for ends after that of the question, which withdraws it.
const LATER: Duration = Duration::from_secs(1);

/// The revisions with a handshake in which a server may ask the client's user.
const ASKS_SINCE: &str = "2025-06-18";

/// Who replies through a client.
pub(super) const CLIENT_USER: &str = "the user";

/// What a client with a handshake can do.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientCan {
    ask: bool,
    /// It declared it, and the revision has no such thing.
    too_old: bool,
    /// Its forms.
    revision: Option<Revision>,
}

/// How a person is reached.
pub(super) enum Way {
    Asker(Reach),
    Result,
}

/// Somebody to ask while the call is held.
pub(super) struct Reach {
    pub(super) asker: Arc<dyn Asker>,
    /// As the record calls it.
    pub(super) how: &'static str,
    /// How long the answer may take.
    pub(super) limit: Duration,
}

impl Inner {
    /// How a person is reached, for this call: by the first way that there is.
    pub(super) fn way(&self, asked: &Asked) -> Result<Way, String> {
        self.first_way(asked, |_| true)
    }

    /// The same for a form: at a terminal there is none.
    pub(super) fn way_to_fill(&self, asked: &Asked) -> Result<Way, String> {
        self.first_way(asked, |carrier| !matches!(carrier, Carrier::Terminal(_)))
    }

    fn first_way(&self, asked: &Asked, is_one: fn(&Carrier) -> bool) -> Result<Way, String> {
        let settings = &self.asking.settings;
        let mut not = Vec::new();
        for carrier in settings.order.iter().filter(|carrier| is_one(carrier)) {
            let way = match carrier {
                Carrier::Library(asker) => {
                    let (asker, how) = (Arc::clone(asker), "library");
                    Ok(Way::Asker(Reach { asker, how, limit: settings.timeout }))
                }
                Carrier::Client => self.way_of_client(asked),
                Carrier::Terminal(desk) => self.way_of_terminal(asked, desk),
            };
            match way {
                Ok(way) => return Ok(way),
                Err(why) => not.push(why),
            }
        }
        if not.len() > 1 {
            // Who did not choose it is told nothing of it.
            not.retain(|why| *why != NOT_LET);
        }
        if not.is_empty() { Err("asking is turned off (--ask none)".into()) } else { Err(not.join("; ")) }
    }

    fn way_of_client(&self, asked: &Asked) -> Result<Way, &'static str> {
        let cannot = "this client cannot ask its user (it does not declare elicitation in form mode)";
        let client = *self.asking.client();
        if let Some(client) = client {
            let injector = self.injector.get().filter(|_| client.ask);
            let old =
                "this client cannot ask its user (the protocol revision of this session has no elicitation)";
            let injector = injector.ok_or(if client.too_old { old } else { cannot })?;
            let asker = ClientAsker {
                injector: injector.clone(),
                deadline: self.asking.settings.timeout.saturating_add(LATER),
                limits: self.limits(),
            };
            let limit = self.asking.settings.timeout;
            return Ok(Way::Asker(Reach { asker: Arc::new(asker), how: "client", limit }));
        }
        // Stateless: each request says what its client can.
        let meta = asked.read.params().and_then(|params| params.get("_meta"));
        let version = meta.and_then(|meta| meta.get(mcp::VERSION_KEY)).and_then(Value::as_str);
        let elicitation = meta
            .and_then(|meta| meta.get(mcp::CAPABILITIES_KEY))
            .and_then(|capabilities| capabilities.get("elicitation"))
            .map(Value::to_serde);
        let can = version.is_some_and(|version| version >= mcp::MODERN) && has_form(elicitation.as_ref());
        can.then_some(Way::Result).ok_or(cannot)
    }

    /// What forms may hold where a person is reached this way.
    pub(super) fn revision(&self, way: &Way) -> Revision {
        let of_client = self.asking.client().and_then(|client| client.revision);
        match way {
            Way::Asker(Reach { how: "client", .. }) => of_client.unwrap_or(Revision::V2025_06_18),
            Way::Asker(..) | Way::Result => Revision::V2026_07_28,
        }
    }

    /// What the client can, by its handshake.
    pub(super) fn note_client(&self, request: &Request, frame: &Frame) {
        #[derive(Deserialize)]
        struct Agreed {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        #[derive(Deserialize)]
        struct Offered {
            #[serde(default)]
            capabilities: serde_json::Map<String, serde_json::Value>,
        }
        let result = Answer::read(frame.body()).and_then(|answer| answer.result);
        let agreed = result.and_then(|result| serde_json::from_str::<Agreed>(result.get()).ok());
        let Some(Agreed { version }) = agreed else { return };
        let offered = request.params().and_then(|params| serde_json::from_str::<Offered>(params).ok());
        let has_form = has_form(offered.as_ref().and_then(|offered| offered.capabilities.get("elicitation")));
        // A stateless revision has no requests of the server's, whatever a handshake agreed on.
        let has_requests = (ASKS_SINCE..mcp::MODERN).contains(&version.as_str());
        *self.asking.client() = Some(ClientCan {
            ask: has_form && has_requests,
            too_old: has_form && !has_requests,
            revision: Revision::of(&version),
        });
    }
}

/// Whether an `elicitation` capability has the form mode: `{}` and `{"form":{}}` do, `{"url":{}}` does not.
fn has_form(elicitation: Option<&serde_json::Value>) -> bool {
    let Some(modes) = elicitation.and_then(serde_json::Value::as_object) else { return false };
    modes.get("form").map_or(!modes.contains_key("url"), serde_json::Value::is_object)
}

/// The user of a client with a handshake.
struct ClientAsker {
    injector: Injector,
    deadline: Duration,
    limits: wire::Limits,
}

impl Asker for ClientAsker {
    fn ask(&self, question: Question) -> Asking {
        let (injector, deadline, limits) = (self.injector.clone(), self.deadline, self.limits.clone());
        Box::pin(async move {
            let params = mcp::approval_form(&question.text(), None).to_string();
            let answer = injector.request_client("elicitation/create", Some(&params), deadline).await;
            Reply::of_answer(answer, &limits).into()
        })
    }

    fn fill(&self, form: FormQuestion) -> Filling {
        let (injector, deadline, limits) = (self.injector.clone(), self.deadline, self.limits.clone());
        Box::pin(async move {
            let params = form.params(None);
            let answer = injector.request_client("elicitation/create", Some(&params), deadline).await;
            Filled::of_answer(answer, &limits)
        })
    }

    fn who(&self) -> &str {
        CLIENT_USER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn form_mode_is_what_an_empty_capability_or_form_says() {
        let has = |elicitation: serde_json::Value| has_form(Some(&elicitation));
        for yes in [json!({}), json!({"form":{}}), json!({"form":{},"url":{}}), json!({"applyDefaults":true})]
        {
            assert!(has(yes.clone()), "{yes}");
        }
        for no in [
            json!({"url":{}}),
            json!({"form":null}),
            json!({"form":true}),
            json!(null),
            json!(true),
            json!([]),
        ] {
            assert!(!has(no.clone()), "{no}");
        }
        assert!(!has_form(None));
    }
}
