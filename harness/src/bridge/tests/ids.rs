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
    rig.bridge.replace_policy(policy(""), Facts::default()).unwrap();
    assert_eq!(rig.client.hears().await, is_changed);
    rig.client.says(&call("1")).await;
    assert!(rig.client.hears().await.contains("still open"));
    rig.client.says(&call(&long.replace('x', "y"))).await;
    assert!(rig.client.hears().await.contains("the id is over 256 bytes"));
    rig.bridge.replace_policy(policy("mode: monitor\n"), Facts::default()).unwrap();
    assert_eq!(rig.client.hears().await, is_changed);
    rig.client.says(&call("1")).await;
    assert_eq!(rig.server.hears().await, call("1"));
}
