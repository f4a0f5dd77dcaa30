//! Another harness asks in its own window.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::approve::{AskSettings, Asker, Asking, Carrier, Question, Reply};

const ASKS: &str = "rules: [ { name: sure, tools: ['*'], that: 'false', otherwise: ask, because: Sure? } ]\n";

/// What the person does.
enum Does {
    Panics,
    Says(Reply),
    SaysAfter(Duration, Reply),
    Thinks,
}

#[derive(Default)]
struct Window {
    does: Mutex<Vec<Does>>,
    asked: Mutex<Vec<Question>>,
    closed: Arc<AtomicUsize>,
}

struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Asker for Window {
    fn ask(&self, question: Question) -> Asking {
        self.asked.lock().unwrap().push(question);
        let (does, open) = (self.does.lock().unwrap().remove(0), Open(Arc::clone(&self.closed)));
        Box::pin(async move {
            let _open = open;
            match does {
                Does::Panics => panic!("a window that cannot open"),
                Does::Says(reply) => reply.into(),
                Does::SaysAfter(time, reply) => {
                    tokio::time::sleep(time).await;
                    reply.into()
                }
                Does::Thinks => std::future::pending().await,
            }
        })
    }

    fn who(&self) -> &str {
        "ada"
    }
}

async fn rig(does: Vec<Does>, timeout: Duration) -> (Rig, Arc<Window>) {
    rig_of(ASKS, does, timeout).await
}

async fn rig_of(policy: &str, does: Vec<Does>, timeout: Duration) -> (Rig, Arc<Window>) {
    let window = Arc::new(Window { does: does.into(), ..Window::default() });
    let order = vec![Carrier::Library(Arc::<Window>::clone(&window))];
    let mut rig = Rig::asking(policy, AskSettings { order, timeout, ..AskSettings::default() });
    // This client declares nothing: it need not.
    rig.list(2).await;
    (rig, window)
}

#[tokio::test]
async fn a_yes_in_another_window_sends_the_call_and_nothing_else_does() {
    let no = [Reply::No, Reply::Cancelled, Reply::Unavailable("gone".into())].map(Does::Says);
    let mut does = vec![Does::Says(Reply::Yes), Does::Panics];
    does.extend(no);
    let (mut rig, window) = rig(does, PATIENCE).await;
    rig.client.says(&call("1", "t0")).await;
    assert_eq!(rig.server.hears().await, call("1", "t0"));
    rig.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).await;
    assert!(rig.client.hears().await.contains(r#""content":[]"#));
    for (id, said) in
        [("2", "asking panicked"), ("3", "ada was asked and declined"), ("4", "dismissed"), ("5", "gone")]
    {
        rig.client.says(&call(id, "t0")).await;
        let refused = rig.client.hears().await;
        assert!(refused.contains(said) && refused.contains(r#""isError":true"#), "{said}: {refused}");
    }
    rig.server.hears_nothing(Duration::from_millis(50)).await;
    let asked = window.asked.lock().unwrap();
    assert_eq!((asked.len(), &*asked[0].tool, &*asked[0].server), (5, "t0", "s"));
}

#[tokio::test]
async fn a_yes_to_a_call_that_the_state_forbids_by_then_sends_nothing() {
    const POLICY: &str = "
state: { shut: bool }
rules:
  - { name: sure, tools: [t0], that: 'false', otherwise: ask, because: Sure? }
  - { name: shuts, tools: [t1], set: { shut: 'true' } }
  - { name: open, tools: [t0], that: '!state.shut', because: It is shut. }
";
    let yes = || Does::SaysAfter(Duration::from_millis(300), Reply::Yes);
    let (mut rig, _window) = rig_of(POLICY, vec![yes(), yes()], PATIENCE).await;
    rig.client.says(&call("1", "t0")).await;
    assert_eq!(rig.server.hears().await, call("1", "t0"), "nothing has changed");
    rig.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).await;
    rig.client.hears().await;
    rig.client.says(&call("2", "t0")).await;
    rig.client.says(&call("3", "t1")).await;
    assert_eq!(rig.server.hears().await, call("3", "t1"));
    let refused = rig.client.hears().await;
    assert!(refused.contains(r#""id":2"#) && refused.contains("It is shut."), "{refused}");
    rig.server.hears_nothing(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn a_question_is_dropped_when_its_call_is_cancelled_or_time_is_up() {
    let (mut rig, window) = rig(vec![Does::Thinks, Does::Thinks], Duration::from_millis(300)).await;
    rig.client.says(&call("1", "t0")).await;
    while window.asked.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(window.closed.load(Ordering::Relaxed), 0);
    rig.client.says(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    while window.closed.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    rig.client.says(&call("2", "t0")).await;
    assert!(rig.client.hears().await.contains("did not answer within 0.3 s"));
    assert_eq!(window.closed.load(Ordering::Relaxed), 2);
    rig.server.hears_nothing(Duration::from_millis(50)).await;
}

/// `t0` as a client of 2026-07-28 calls it.
fn modern(id: u32, more: &str) -> String {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t0","arguments":{{}},"_meta":{meta}{more}}}}}"#
    )
}

#[tokio::test]
async fn a_state_is_good_for_its_time() {
    let life = Duration::from_millis(200);
    let settings = AskSettings { state_timeout: life, ..AskSettings::default() };
    let mut rig = Rig::asking(ASKS, settings);
    rig.client.says(&modern(1, "")).await;
    let id = id_of(&rig.server.hears().await);
    rig.server.says(&listing(&id, 1)).await;
    let retry = |asks: &str| {
        let asks: serde_json::Value = serde_json::from_str(asks).unwrap();
        let (key, state) =
            (asks["result"]["inputRequests"].as_object().unwrap(), &asks["result"]["requestState"]);
        let key = key.keys().next().unwrap();
        format!(
            r#","requestState":{state},"inputResponses":{{"{key}":{{"action":"accept","content":{{"approve":true}}}}}}"#
        )
    };
    let asks = rig.client.hears().await;
    tokio::time::sleep(life).await;
    rig.client.says(&modern(2, &retry(&asks))).await;
    let asks = rig.client.hears().await;
    assert!(asks.contains("input_required"), "{asks}");
    rig.client.says(&modern(3, &retry(&asks))).await;
    assert_eq!(rig.server.hears().await, modern(3, ""));
}

/// `t0` with a token for progress.
fn with_token(id: u32, token: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t0","arguments":{{}},"_meta":{{"progressToken":{token}}}}}}}"#
    )
}

/// Token as it is written, and progress.
fn progress(line: &str) -> (String, f64) {
    let read: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(read["method"], "notifications/progress", "{line}");
    let token = line.split_once(r#""progressToken":"#).unwrap().1.split_once(r#","progress""#).unwrap().0;
    (token.to_owned(), read["params"]["progress"].as_f64().unwrap())
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_while_a_call_waits_and_the_servers_own_can_still_rise() {
    let seconds = Duration::from_secs;
    let does = vec![Does::SaysAfter(seconds(35), Reply::Yes), Does::Thinks, Does::Thinks, Does::Thinks];
    let (mut rig, _) = rig(does, seconds(45)).await;
    let token = "123456789012345678901234567890";
    rig.client.says(&with_token(1, token)).await;
    let mut before = 0.0;
    for _ in 0..3 {
        let (told, value) = progress(&rig.client.hears().await);
        assert!(told == token && before < value && value < 0.001, "{told}: {value}");
        before = value;
    }
    assert_eq!(rig.server.hears().await, with_token(1, token), "approved");
    // From here on it is the server's, however long it takes.
    rig.client.hears_nothing(seconds(60)).await;
    let own = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":0.001}}}}"#
    );
    rig.server.says(&own).await;
    assert_eq!(rig.client.hears().await, own);
    rig.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).await;
    rig.client.hears().await;
    // Cancelled: nothing more is told of it.
    rig.client.says(&with_token(2, r#""t\u0032""#)).await;
    assert_eq!(progress(&rig.client.hears().await).0, r#""t\u0032""#);
    rig.client.says(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
    rig.client.hears_nothing(seconds(60)).await;
    // Without a token, or with none that is one, only the end is told.
    for (id, frame) in [(3, call("3", "t0")), (4, with_token(4, "[1]"))] {
        rig.client.says(&frame).await;
        rig.client.hears_nothing(seconds(44)).await;
        let refused = rig.client.hears().await;
        assert!(refused.contains(&format!(r#""id":{id}"#)) && refused.contains("within 45 s"), "{refused}");
    }
}
