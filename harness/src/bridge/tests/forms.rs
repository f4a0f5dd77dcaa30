//! Another harness asks for missing arguments in its own window, or has no forms.

use std::sync::Mutex;

use framegate_guard::json::{Document, Limits};

use super::*;
use crate::approve::{AskSettings, Asker, Asking, Carrier, Filled, Filling, FormQuestion, Question, Reply};

const LACKS: &str = "defaults: { ask: { required: [a0] } }\n";

type Answer = Box<dyn FnOnce() -> Filled + Send>;

/// A window with forms.
#[derive(Default)]
struct Window {
    answers: Mutex<Vec<Answer>>,
    asked: Mutex<Vec<FormQuestion>>,
}

impl Asker for Window {
    fn ask(&self, _: Question) -> Asking {
        Box::pin(std::future::ready(Reply::No.into()))
    }

    fn fill(&self, form: FormQuestion) -> Filling {
        self.asked.lock().unwrap().push(form);
        let answer = self.answers.lock().unwrap().remove(0);
        Box::pin(async move { answer() })
    }

    fn who(&self) -> &str {
        "ada"
    }
}

/// One that can only ask for a yes.
struct NoForms;

impl Asker for NoForms {
    fn ask(&self, _: Question) -> Asking {
        Box::pin(std::future::ready(Reply::Yes.into()))
    }
}

async fn rig(policy: &str, asker: Arc<dyn Asker>) -> Rig {
    let settings = AskSettings { order: vec![Carrier::Library(asker)], ..AskSettings::default() };
    let mut rig = Rig::asking(policy, settings);
    // This client declares nothing: it need not.
    rig.list(2).await;
    rig
}

fn content(text: &'static str) -> Answer {
    Box::new(move || Filled::Content(Document::read(text.into(), &Limits::default()).unwrap()))
}

#[tokio::test]
async fn an_answer_from_another_window_completes_the_call_and_nothing_else_does() {
    let answers: Vec<Answer> = vec![
        content(r#"{"a0":"x"}"#),
        Box::new(|| panic!("a window that cannot open")),
        Box::new(|| Filled::Cancelled),
        content("{}"),
        content("[]"),
    ];
    let window = Arc::new(Window { answers: answers.into(), ..Window::default() });
    let mut rig = rig(LACKS, Arc::<Window>::clone(&window)).await;
    rig.client.says(&call("1", "t0")).await;
    assert_eq!(rig.server.hears().await, call("1", "t0").replace("{}", r#"{"a0":"x"}"#));
    rig.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).await;
    assert!(rig.client.hears().await.contains(r#""content":[]"#));
    for (id, reason) in [
        ("2", "elicitation_failed"),
        ("3", "elicitation_cancelled"),
        ("4", "required_fields_missing_or_empty"),
    ] {
        rig.client.says(&call(id, "t0")).await;
        let refused = rig.client.hears().await;
        assert!(refused.contains(reason) && refused.contains(r#""isError":true"#), "{reason}: {refused}");
    }
    rig.server.hears_nothing(Duration::from_millis(50)).await;
    let asked = window.asked.lock().unwrap();
    assert_eq!((asked.len(), &*asked[0].tool, &*asked[0].server), (5, "t0", "s"));
    assert!(asked[4].message.contains("did not fit"), "{}", asked[4].message);
}

#[tokio::test]
async fn a_window_without_forms_refuses_and_its_yes_completes_nothing() {
    let mut rig = rig(LACKS, Arc::new(NoForms)).await;
    rig.client.says(&call("1", "t0")).await;
    assert!(rig.client.hears().await.contains("elicitation_unsupported"));
    rig.server.hears_nothing(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn a_call_that_would_be_too_large_with_its_answer_is_asked_for_a_shorter_one() {
    let long = format!(r#"{{"a0":"{}"}}"#, "x".repeat(2000));
    let long: &'static str = Box::leak(long.into_boxed_str());
    let answers = vec![content(long), content(r#"{"a0":"x"}"#)];
    let window = Arc::new(Window { answers: answers.into(), ..Window::default() });
    let mut rig =
        rig(&format!("limits: {{ call_bytes: 1024 }}\n{LACKS}"), Arc::<Window>::clone(&window)).await;
    rig.client.says(&call("1", "t0")).await;
    assert!(rig.server.hears().await.contains(r#"{"a0":"x"}"#));
    assert!(window.asked.lock().unwrap()[1].message.contains("over the limit of 1024"));
}
