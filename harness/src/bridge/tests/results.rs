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
        r#"{"content":[],"taskId":"7","result":{"content":[{"type":"text","text":"launch code"}]}}"#,
        r#"{"content":[{"type":"text","text":"launch code"}],"taskId":"7","result":{"content":[]}}"#,
    ] {
        assert!(!passes_after(result).await, "{result}");
    }
}
