//! What a tool said, in whatever part of its result, counts for the rules over the conversation.

use super::*;

const RULE: &str =
    "rules: [{ name: leak, tools: [t0], that: '!conversation.contains(\"launch code\")', because: B. }]\n";

/// Whether a call passes after a tool gave this result.
async fn passes_after(result: &str) -> bool {
    let mut rig = Rig::opened(RULE, 1).await;
    rig.client.says(&call("1", "t0")).await;
    rig.server.hears().await;
    rig.server.says(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)).await;
    rig.client.hears().await;
    rig.client.says(&call("2", "t0")).await;
    tokio::select! {
        line = rig.server.hears() => line == call("2", "t0"),
        line = rig.client.hears() => { assert!(line.contains("leak"), "{line}"); false }
    }
}

#[tokio::test]
async fn every_part_of_a_result_counts_as_what_the_tool_said() {
    assert!(
        passes_after(r#"{"content":[{"type":"text","text":"nothing"}],"structuredContent":{"a":1}}"#).await
    );
    for result in [
        r#"{"content":[{"type":"text","text":"launch code"}]}"#,
        r#"{"content":[],"structuredContent":{"note":{"deep":["the launch\u0020code"]}}}"#,
        r#"{"structuredContent":{"launch code":7}}"#,
        r#"{"content":[{"type":"resource","resource":{"uri":"file:///x","text":"launch code"}}]}"#,
        r#"{"content":[{"type":"resource_link","uri":"file:///x","name":"x","description":"launch code"}]}"#,
        r#"{"content":[],"structuredContent":{"a":1,"a":"launch code"}}"#,
        r#"{"content":{"text":"launch code"}}"#,
        r#"{"resultType":"input_required","inputRequests":{"q":{"method":"x","params":{"message":"launch code"}}}}"#,
        r#"{"content":[],"InputRequest\u0073":{"q":["launch code"]}}"#,
        r#"{"content":[],"taskId":"7","result":{"inputRequests":{"q":"launch code"}}}"#,
        r#"{"content":[],"taskId":"7","result":{"content":[{"type":"text","text":"launch code"}]}}"#,
        r#"{"content":[{"type":"text","text":"launch code"}],"taskId":"7","result":{"content":[]}}"#,
    ] {
        assert!(!passes_after(result).await, "{result}");
    }
}

/// Whether a call passes after the server answered a request of this method in this way, twice: heard once.
async fn passes_after_answer(method: &str, params: &str, result: &str) -> bool {
    let mut rig = Rig::opened(RULE, 1).await;
    for id in ["1", "2"] {
        rig.client
            .says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
            .await;
        rig.server.hears().await;
        rig.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
        rig.client.hears().await;
    }
    assert!(rig.bridge.inner.session().heard() <= 1, "{method}");
    rig.client.says(&call("3", "t0")).await;
    tokio::select! {
        line = rig.server.hears() => line == call("3", "t0"),
        line = rig.client.hears() => { assert!(line.contains("leak"), "{line}"); false }
    }
}

#[tokio::test]
async fn what_a_server_says_of_tasks_and_of_itself_counts_as_said() {
    let (content, task) = (r#"{"content":[{"type":"text","text":"launch code"}]}"#, r#"{"taskId":"old"}"#);
    let status = r#"{"taskId":"old","status":"working","statusMessage":"launch code"}"#;
    for (method, params, result) in [
        ("tasks/result", task, content),
        ("tasks/get", task, status),
        ("tasks/cancel", task, status),
        ("tasks/list", "{}", &format!(r#"{{"tasks":[{status}]}}"#)),
        ("server/discover", "{}", r#"{"instructions":"launch code"}"#),
        ("resources/list", "{}", r#"{"resources":[{"uri":"a:b","description":"launch code"}]}"#),
        ("resources/templates/list", "{}", r#"{"resourceTemplates":[{"title":"launch code"}]}"#),
        ("prompts/list", "{}", r#"{"prompts":[{"name":"p","description":"launch code"}]}"#),
    ] {
        assert!(!passes_after_answer(method, params, result).await, "{method}");
    }
    assert!(passes_after_answer("tasks/get", task, r#"{"taskId":"old","status":"working"}"#).await);
    assert!(passes_after_answer("server/discover", "{}", r#"{"serverInfo":{"name":"launch code"}}"#).await);
}

#[tokio::test]
async fn an_early_empty_outcome_of_a_task_hides_no_later_one() {
    let mut rig = Rig::opened(RULE, 1).await;
    rig.client.says(&call("1", "t0")).await;
    rig.server.hears().await;
    let of_task = |id: u8, result: &str| {
        let method = if id == 2 { "tasks/get" } else { "tasks/result" };
        let asks = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"taskId":"7"}}}}"#);
        (asks, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    };
    rig.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"7","status":"working"}}}"#).await;
    rig.client.hears().await;
    let later = r#"{"content":[{"type":"text","text":"launch code"}]}"#;
    for (id, result) in
        [(2, r#"{"taskId":"7","status":"working","result":{}}"#), (3, r#"{"content":[]}"#), (4, later)]
    {
        let (asks, answers) = of_task(id, result);
        rig.client.says(&asks).await;
        rig.server.hears().await;
        rig.server.says(&answers).await;
        rig.client.hears().await;
    }
    rig.client.says(&call("9", "t0")).await;
    let refused = rig.client.hears().await;
    assert!(refused.contains("leak"), "{refused}");
}

const TESTED: &str = r#"
state: { tested: { type: bool, init: true } }
rules:
  - { name: tests, tools: [t0], after: { tested: "!result.is_error" } }
  - { name: push, tools: [t1], that: state.tested, because: B. }
"#;

/// What a call is told that needs tests to have passed, after they ran as a task of which the server says this.
async fn pushes_after_task(method: &str, answer: &str) -> String {
    let mut rig = Rig::opened(TESTED, 2).await;
    rig.client.says(&call("1", "t0")).await;
    rig.server.hears().await;
    rig.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"7","status":"working"}}}"#).await;
    rig.client.hears().await;
    let asks = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{{"taskId":"7"}}}}"#);
    rig.client.says(&asks).await;
    rig.server.hears().await;
    rig.server.says(&format!(r#"{{"jsonrpc":"2.0","id":2,{answer}}}"#)).await;
    rig.client.hears().await;
    rig.client.says(&call("3", "t1")).await;
    tokio::select! {
        line = rig.server.hears() => { assert_eq!(line, call("3", "t1")); String::new() }
        line = rig.client.hears() => line
    }
}

#[tokio::test]
async fn how_a_task_ended_stands_inside_what_is_said_of_it() {
    let failed = r#""result":{"content":[],"isError":true}"#;
    for (method, answer, want) in [
        ("tasks/get", r#""result":{"taskId":"7","status":"working"}"#, "under way"),
        ("tasks/get", r#""result":{"taskId":"7","status":"completed","result":{"content":[]}}"#, ""),
        ("tasks/get", &format!(r#""result":{{"taskId":"7","status":"completed",{failed}}}"#), "is false"),
        (
            "tasks/get",
            r#""result":{"taskId":"7","status":"failed","error":{"code":-1,"message":"x"}}"#,
            "is false",
        ),
        ("tasks/get", r#""result":{"taskId":"7","status":"cancelled"}"#, "may be true"),
        ("tasks/cancel", r#""result":{"taskId":"7","status":"cancelled"}"#, "may be true"),
        ("tasks/cancel", r#""error":{"code":-32602,"message":"no"}"#, "under way"),
        ("tasks/result", r#""result":{"content":[]}"#, ""),
        ("tasks/result", failed, "is false"),
        ("tasks/result", r#""error":{"code":-1,"message":"x"}"#, "is false"),
    ] {
        let told = pushes_after_task(method, answer).await;
        assert!(told.contains(want) && told.is_empty() == want.is_empty(), "{method} {answer}: {told}");
    }
}

#[tokio::test]
async fn an_error_between_two_long_members_is_one() {
    let long = "x".repeat(4096);
    for (is_error, want) in [(true, "is false"), (false, "")] {
        let answer = format!(
            r#""result":{{"content":[{{"type":"text","text":"{long}"}}],"isError":{is_error},"structuredContent":{{"a":"{long}"}}}}"#
        );
        let told = pushes_after_task("tasks/result", &answer).await;
        assert!(told.contains(want) && told.is_empty() == want.is_empty(), "{told}");
    }
}
