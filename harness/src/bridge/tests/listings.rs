//! What a server's listings cost the session.

use super::*;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;

#[tokio::test]
async fn frames_pass_while_thousands_of_tools_are_adopted() {
    let mut rig = Rig::start("");
    let id = rig.open().await;
    rig.server.says(&listing(&id, 4000)).await;
    // By now the listing is being adopted.
    tokio::time::sleep(Duration::from_millis(100)).await;
    rig.client.says(PING).await;
    assert_eq!(rig.server.hears().await, PING);
    assert!(!rig.bridge.guard().is_listed(), "the ping waited");
}

#[tokio::test]
async fn a_policy_that_comes_while_a_listing_is_adopted_is_not_undone_by_it() {
    let mut rig = Rig::start("");
    let id = rig.open().await;
    rig.server.says(&listing(&id, 4000)).await;
    let mut last = policy("");
    // Again and again, so that one falls into the adoption, whenever that is.
    for n in 0.. {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if rig.bridge.guard().is_listed() {
            break;
        }
        last = policy(&format!("tools: {{ t1: {{ hidden: true }}, x{n}: {{}} }}\n"));
        rig.bridge.replace_policy(last.clone(), Facts::default()).await.unwrap();
    }
    assert_eq!(rig.bridge.guard().policy().digest(), last.digest());
    assert!(!rig.bridge.guard().offers("t1") && rig.bridge.guard().lists("t3999"));
}

#[tokio::test]
async fn a_server_that_says_without_end_that_its_tools_changed_is_asked_at_a_pace() {
    let mut rig = Rig::opened("", 3).await;
    let until = tokio::time::Instant::now() + Duration::from_secs(1);
    let mut asked = 0;
    while tokio::time::Instant::now() < until {
        rig.server.says(CHANGED).await;
        while let Ok(line) =
            tokio::time::timeout(Duration::from_millis(2), rig.server.hears.next_line()).await
        {
            asked += 1;
            let id = id_of(&line.unwrap().unwrap());
            rig.server.says(&listing(&id, 3)).await;
        }
    }
    assert!((1..=5).contains(&asked), "{asked} listings in a second");
    // And a call for a tool that it may have now is not kept waiting for the end of that.
    let call = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t9","arguments":{}}}"#;
    rig.client.says(call).await;
    let answered = async {
        loop {
            tokio::select! {
                line = rig.client.hears.next_line() => {
                    let line = line.unwrap().unwrap();
                    if line.contains(r#""id":"c""#) {
                        return line;
                    }
                }
                line = rig.server.hears.next_line() => {
                    let id = id_of(&line.unwrap().unwrap());
                    rig.server.says(CHANGED).await;
                    rig.server.says(&listing(&id, 3)).await;
                }
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(4), answered).await.expect("it waits");
    assert!(refused.contains("known_tool"), "{refused}");
}

#[tokio::test]
async fn the_last_of_several_listings_is_the_one_that_counts() {
    let mut rig = Rig::opened("", 1).await;
    for count in [2, 3] {
        rig.server.says(CHANGED).await;
        let id = id_of(&rig.server.hears().await);
        // Said while the first is on its way: a second one is asked for, and it is the later.
        rig.server.says(CHANGED).await;
        rig.server.says(&listing(&id, count)).await;
        let id = id_of(&rig.server.hears().await);
        rig.server.says(&listing(&id, count * 10)).await;
        while !rig.bridge.guard().lists(&format!("t{}", count * 10 - 1)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    rig.server.hears_nothing(Duration::from_millis(600)).await;
    assert_eq!(rig.bridge.guard().tools().count(), 30);
}
