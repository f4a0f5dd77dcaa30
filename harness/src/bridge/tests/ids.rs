//! Ids: the limits follow the policy in force.

use super::*;

/// A call that is allowed.
fn call(id: &str) -> String {
    super::call(id, "t0")
}

#[tokio::test]
async fn limits_on_ids_follow_the_policy_in_force() {
    let mut rig = Rig::opened("mode: monitor\n", 1).await;
    let is_changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let long = format!("\"{}\"", "x".repeat(300));
    for line in [call("1"), call("1"), call(&long)] {
        rig.client.says(&line).await;
        assert_eq!(rig.server.hears().await, line, "monitor changes nothing");
    }
    rig.bridge.replace_policy(policy(""), Facts::default()).await.unwrap();
    assert_eq!(rig.client.hears().await, is_changed);
    rig.client.says(&call("1")).await;
    assert!(rig.client.hears().await.contains("still open"));
    rig.client.says(&call(&long.replace('x', "y"))).await;
    assert!(rig.client.hears().await.contains("the id is over 256 bytes"));
    rig.bridge.replace_policy(policy("mode: monitor\n"), Facts::default()).await.unwrap();
    assert_eq!(rig.client.hears().await, is_changed);
    rig.client.says(&call("1")).await;
    assert_eq!(rig.server.hears().await, call("1"));
}

#[tokio::test]
async fn an_odd_frame_under_an_open_id_leaves_that_call_its_answer() {
    let mut rig = Rig::opened("", 1).await;
    rig.client.says(&call("1")).await;
    rig.server.hears().await;
    for odd in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\r\"method\":\"ping\"}",
    ] {
        rig.client.says(odd).await;
        let refused: serde_json::Value = serde_json::from_str(&rig.client.hears().await).unwrap();
        assert!(refused["id"].is_null() && refused["error"].is_object(), "{odd}: {refused}");
    }
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    rig.server.says(answer).await;
    assert_eq!(rig.client.hears().await, answer);
    rig.client.says(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}"#).await;
    assert!(rig.client.hears().await.contains(r#""id":1,"#), "nobody waits under it any more");
    rig.server.hears_nothing(Duration::from_millis(50)).await;
}
