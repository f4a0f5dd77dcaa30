//! What is no tool call: the client's other requests, its notifications and answers, the server's requests.

use std::sync::Arc;

use framegate_guard::Outcome;
use framegate_guard::cel::Budget;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::ledger::LedgerFailure;
use framegate_guard::policy::Surface;
use framegate_guard::store::event::{Event, FrameRecord, FrameSent, MethodRecord};
use framegate_guard::{MethodCall, Ruled};
use framegate_pump::{Frame, Hold, HoldKind, Interceptor as _, Kind, Request, RpcError, Side, Verdict};

use super::calls::{ON_THREAD_BYTES_MAX, REFUSED, read};
use super::refusals::answer;
use super::shared::{Bridge, Inner};
use crate::calls::Level;
use crate::clip::clip;
use crate::recorder::peer;
use crate::wire::{self, ClientFrame, Refusal};

/// JSON-RPC 2.0, section 5.1.
const METHOD_NOT_FOUND: i64 = -32_601;

/// What no pattern under `methods:` is about: without these there is no session, and no listing to hide tools in.
const EVERY_SESSION: [&str; 4] = ["initialize", "ping", "server/discover", "tools/list"];

/// What a client may ask where the policy's `surface` is `tools`: all that a session with tools needs.
const TOOL_METHODS: [&str; 11] = [
    "initialize",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tools/list",
    "tools/call",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "tasks/update",
];

impl Bridge {
    pub(super) fn client_request(&self, request: &Request) -> Verdict {
        if request.method() == "tools/call" && request.frame().len() > ON_THREAD_BYTES_MAX {
            return self.large_call(request);
        }
        self.read_request(request, read(request, &self.limits()))
    }

    /// A request of the client's that was read strictly, or could not be.
    pub(super) fn read_request(
        &self,
        request: &Request,
        frame: Result<Option<ClientFrame>, Box<Refusal>>,
    ) -> Verdict {
        let frame = match frame {
            Ok(Some(frame)) => frame,
            Ok(None) => return Verdict::Drop { to_client: Vec::new() },
            Err(refusal) => return self.refuse_frame(request.frame(), &refusal),
        };
        self.note_request(request.method(), frame.params());
        self.inner.hear_responses(request.method(), frame.params());
        if request.method() == "tools/call" {
            return self.call(request, frame);
        }
        let guard = self.guard();
        if guard.policy().surface() == Surface::Tools && !TOOL_METHODS.contains(&request.method()) {
            let text =
                format!("`{}` is not offered here: the policy leaves only tools", clip(request.method()));
            return self.refuse_method(request, RpcError::new(METHOD_NOT_FOUND, text));
        }
        if EVERY_SESSION.contains(&request.method()) || guard.policy().methods().all_pass() {
            return Verdict::Forward;
        }
        self.method(request, Side::Client, frame.params())
    }

    /// `methods:` and `server_requests:`.
    fn method(&self, request: &Request, from: Side, params: Option<Value<'_>>) -> Verdict {
        let call = MethodCall { method: request.method(), params, is_servers: from == Side::Server };
        self.ruled(&call, &mut Budget::default())
            .map_or(Verdict::Forward, |error| self.refuse_method(request, error))
    }

    /// The error that a request is refused by, if it is.
    pub(super) fn ruled(&self, call: &MethodCall<'_>, budget: &mut Budget) -> Option<RpcError> {
        let guard = self.guard();
        self.inner.hear_user(&guard);
        let session = Arc::clone(&self.inner.session());
        match guard.method_within(call, &session, &*self.inner.world, budget) {
            Ruled { outcome: Outcome::Allow, .. } => None,
            Ruled { text, .. } => Some(RpcError::new(REFUSED, text)),
        }
    }

    pub(super) fn refuse_method(&self, request: &Request, error: RpcError) -> Verdict {
        let ticket = request.head().ticket;
        if self.guard().is_monitoring() {
            self.note_method(request, &error.message, None);
            self.say(Level::Info, &format!("would refuse `{}`: {}", clip(request.method()), error.message));
            return Verdict::Forward;
        }
        self.inner.log.decided(ticket, "denied".into());
        let refused = request.refuse(&error);
        self.note_method(request, &error.message, refused.as_ref());
        self.say(
            Level::Info,
            &format!(
                "refused `{}` of the {}: {}",
                clip(request.method()),
                request.head().from,
                error.message
            ),
        );
        answer(refused)
    }

    fn note_method(&self, request: &Request, why: &str, refused: Option<&Frame>) {
        let params = request.params().map(|params| request.frame().bytes().slice_ref(params.as_bytes()));
        self.inner.ledger.note(Event::Method(MethodRecord {
            from: peer(request.head().from),
            method: request.method().to_owned(),
            outcome: "deny".to_owned(),
            text: why.to_owned(),
            params,
            frame: request.frame().bytes().clone(),
            out: refused.map(|frame| frame.bytes().clone()),
            is_observed: refused.is_none(),
        }));
    }

    /// A frame that is no call, and what became of it.
    fn note_frame(&self, frame: &Frame, from: Side, reason: &str, sent: FrameSent, answers: &[Frame]) {
        self.inner.ledger.note(Event::Frame(frame_record(frame, from, reason, sent, answers)));
    }

    pub(super) fn client_notification(&self, notification: &Request) -> Verdict {
        match read(notification, &self.limits()) {
            Ok(Some(_)) => {}
            Ok(None) => return Verdict::Drop { to_client: Vec::new() },
            Err(refusal) => return self.refuse_frame(notification.frame(), &refusal),
        }
        if notification.method() == "notifications/initialized" {
            self.note_initialized();
        }
        Verdict::Forward
    }

    /// The client answers a request of the server's.
    pub(super) fn client_answer(&self, request: &Request, frame: &Frame) -> Verdict {
        let refusal = match wire::client_frame(frame, &self.limits()) {
            Ok(read) => {
                if let Some(answer) = read {
                    self.inner.hear_reply(request, &answer);
                }
                return Verdict::Forward;
            }
            Err(refusal) => refusal,
        };
        if self.guard().is_monitoring() {
            return self.would_refuse(frame, &refusal);
        }
        self.report(frame, &refusal);
        self.note_frame(frame, Side::Client, refusal.reason.as_str(), FrameSent::No, &[]);
        // The server waits: it gets an answer, but not this one.
        let text = "the client's answer could not be read for certain and was not passed on";
        answer(request.refuse(&RpcError::new(RpcError::INTERNAL, text)))
    }

    pub(super) fn server_request(&self, request: &Request) -> Verdict {
        let verdict = self.server_request_ruled(request);
        if matches!(verdict, Verdict::Forward) {
            self.inner.server_asked(request);
        }
        verdict
    }

    fn server_request_ruled(&self, request: &Request) -> Verdict {
        let guard = self.guard();
        if guard.policy().server_requests().all_pass() {
            return Verdict::Forward;
        }
        let params =
            request.params().map(|text| Document::read(text.as_bytes().to_vec().into(), &Limits::default()));
        match params {
            None => self.method(request, Side::Server, None),
            Some(Ok(params)) => self.method(request, Side::Server, Some(params.root())),
            Some(Err(why)) => {
                let text = format!("its `params` cannot be read for certain: {why}");
                self.refuse_method(request, RpcError::new(REFUSED, text))
            }
        }
    }

    pub(super) fn server_notification(&self, notification: &Request) -> Verdict {
        if notification.method() == "notifications/tools/list_changed" {
            self.note_list_changed();
        }
        self.inner.server_noticed(notification);
        Verdict::Forward
    }

    // === frames that are nothing for certain ===

    pub(super) fn odd_client_frame(&self, frame: &Frame) -> Verdict {
        match wire::client_frame(frame, &self.limits()) {
            Ok(_) if self.guard().is_monitoring() => Verdict::Forward,
            Ok(None) => Verdict::Drop { to_client: Vec::new() },
            // An answer that nobody waits for.
            Ok(Some(_)) => {
                self.say(
                    Level::Warn,
                    "an answer of the client's that the server did not ask for was dropped",
                );
                Verdict::Drop { to_client: Vec::new() }
            }
            Err(refusal) => self.refuse_frame(frame, &refusal),
        }
    }

    pub(super) fn odd_server_frame(&self, frame: &Frame, kind: Kind) -> Verdict {
        if self.guard().is_monitoring() {
            return match (&self.inner.noise, kind) {
                (Some(noise), Kind::Opaque(_)) => noise.odd_frame(frame, kind, Side::Server),
                _ => Verdict::Forward,
            };
        }
        if kind == Kind::Response {
            self.say(Level::Warn, "an answer of the server's to nothing that is open was dropped");
            return Verdict::Drop { to_client: Vec::new() };
        }
        match (wire::server_frame(frame, kind), &self.inner.noise) {
            (Ok(wire::ServerFrame::Noise { .. }), Some(noise)) => noise.odd_frame(frame, kind, Side::Server),
            (Ok(_), _) => {
                self.inner.heard_unread(frame);
                Verdict::Forward
            }
            (Err(dropped), _) => {
                self.note_frame(frame, Side::Server, "unreadable", FrameSent::No, &[]);
                self.say(Level::Warn, &format!("a frame of the server's was dropped: {}", dropped.message));
                let text = format!("the server's answer was dropped: {}", dropped.message);
                let error = RpcError::new(RpcError::INTERNAL, text);
                // The router closes what these answer, and drops those under an id that is nobody's.
                Verdict::Drop { to_client: dropped.answers.iter().map(|id| error.answer(id)).collect() }
            }
        }
    }

    fn refuse_frame(&self, frame: &Frame, refusal: &Refusal) -> Verdict {
        if self.guard().is_monitoring() {
            return self.would_refuse(frame, refusal);
        }
        self.report(frame, refusal);
        let errors = refusal.errors();
        self.note_frame(frame, Side::Client, refusal.reason.as_str(), FrameSent::No, &errors);
        refused(refusal, errors)
    }

    /// What would be refused goes on. What may be a call does so like one: not before it is in the record.
    fn would_refuse(&self, frame: &Frame, refusal: &Refusal) -> Verdict {
        let (reason, bytes) = (refusal.reason.as_str(), frame.len());
        if !self.inner.without_policy {
            self.say(
                Level::Warn,
                &format!("would refuse a frame of {bytes} bytes ({reason}): {}", refusal.message),
            );
        }
        if !may_call(frame.body()) {
            self.note_frame(frame, Side::Client, reason, FrameSent::Verbatim, &[]);
            return Verdict::Forward;
        }
        let record = FrameRecord {
            is_unread: true,
            ..frame_record(frame, Side::Client, reason, FrameSent::Verbatim, &[])
        };
        match self.inner.ledger.note_and_wait(Event::Frame(record)) {
            Ok(None) => Verdict::Forward,
            Err(why) => {
                self.note_frame(frame, Side::Client, "no record", FrameSent::No, &[]);
                self.frame_unrecorded(refusal, &why)
            }
            Ok(Some(noting)) => {
                let (bridge, refusal) = (Bridge { inner: Arc::clone(&self.inner) }, refusal.clone());
                let held = HeldFrame { inner: Arc::clone(&self.inner), frame: frame.clone(), is_over: false };
                Hold::verdict(HoldKind::Machine, async move {
                    let noted = noting.await;
                    held.over();
                    match noted {
                        Ok(()) => Verdict::Forward,
                        Err(why) => bridge.frame_unrecorded(&refusal, &why),
                    }
                })
            }
        }
    }

    /// No record, no call; nor what may be one.
    fn frame_unrecorded(&self, refusal: &Refusal, why: &LedgerFailure) -> Verdict {
        let message = format!("not sent on: {why}, and what may be a call is not sent without a record");
        self.say(Level::Warn, &format!("refused a frame that may be a call: {why}"));
        let refusal = Refusal { code: RpcError::INTERNAL, message, ..refusal.clone() };
        refused(&refusal, refusal.errors())
    }

    fn report(&self, frame: &Frame, refusal: &Refusal) {
        use sha2::Digest as _;
        let hash: String =
            sha2::Sha256::digest(frame.body()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let (reason, bytes) = (refusal.reason.as_str(), frame.len());
        self.say(
            Level::Warn,
            &format!(
                "refused a frame of the client's, {bytes} bytes, SHA-256 {hash}… ({reason}): {}",
                refusal.message
            ),
        );
    }
}

fn frame_record(frame: &Frame, from: Side, reason: &str, sent: FrameSent, answers: &[Frame]) -> FrameRecord {
    FrameRecord {
        frame: Some(frame.bytes().clone()),
        out: answers.first().map(|frame| frame.bytes().clone()),
        ..FrameRecord::new(peer(from), reason, sent)
    }
}

fn refused(refusal: &Refusal, mut errors: Vec<Frame>) -> Verdict {
    match (errors.len(), errors.pop()) {
        (1, Some(error)) if refusal.id().is_some() => Verdict::Answer(error),
        (_, last) => {
            errors.extend(last);
            Verdict::Drop { to_client: errors }
        }
    }
}

/// Whether any reader might find a call in this: a name that is written with escapes is no less one.
fn may_call(body: &[u8]) -> bool {
    const CALL: &[u8] = b"tools/call";
    body.contains(&b'\\') || body.windows(CALL.len()).any(|part| part == CALL)
}

/// A frame that may be a call and waits for its record. When nobody waits any more, it was not sent.
struct HeldFrame {
    inner: Arc<Inner>,
    frame: Frame,
    is_over: bool,
}

impl HeldFrame {
    /// Its record has come, or failed.
    fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for HeldFrame {
    fn drop(&mut self) {
        if !self.is_over {
            let record = frame_record(&self.frame, Side::Client, "cancelled", FrameSent::No, &[]);
            self.inner.ledger.note(Event::Frame(record));
        }
    }
}
