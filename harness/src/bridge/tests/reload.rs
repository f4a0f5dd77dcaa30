//! What is seen of a policy file that changes.

use std::future::Future as _;
use std::os::unix::fs::PermissionsExt as _;
use std::task::Poll;

use super::*;
use crate::bridge::follow;
use crate::policy_file::stamp_to_keep;
use crate::program::{Launch, Programs};

/// A file that is changed right after it was loaded, `age` after it was written; the watch begins later.
async fn changed_after_the_load(age: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.yaml");
    let (first, second) = ("mode: monitor \n", "surface: tools\n ");
    let write = |text: &str| std::fs::write(&file, format!("framegate: 1\ndefault: allow\n{text}")).unwrap();
    write(first);
    std::thread::sleep(age);
    let stamp = stamp_to_keep(&file);
    let rig = Rig::start(first);
    write(second);
    let path = file.clone();
    let load = move || {
        let text = std::fs::read(&path).unwrap();
        let loaded = Policy::load("p.yaml", &text, &mut |_| Err(String::new()));
        Ok((loaded.unwrap().policy, Facts::default(), Vec::new()))
    };
    let watch = tokio::spawn(follow(Arc::clone(&rig.bridge), (file.clone(), stamp), load));
    let seen = async {
        while rig.bridge.guard().policy().digest() != policy(second).digest() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(4), seen).await.expect("the change was not seen");
    watch.abort();
}

#[tokio::test]
async fn a_change_between_the_load_and_the_first_look_is_seen() {
    changed_after_the_load(Duration::from_millis(300)).await;
}

#[tokio::test]
async fn a_change_of_the_same_length_in_the_same_tick_is_seen() {
    changed_after_the_load(Duration::ZERO).await;
}

/// A program that is found and cannot be started: only whoever starts it notices.
#[tokio::test]
async fn a_policy_that_is_refused_has_had_no_program_started() {
    let folder = tempfile::tempdir().unwrap();
    let judge = folder.path().join("judge");
    std::fs::write(&judge, "#!/nowhere/at/all\n").unwrap();
    std::fs::set_permissions(&judge, std::fs::Permissions::from_mode(0o700)).unwrap();
    let rig = Rig::opened("", 1).await;
    let launch = Launch::new(folder.path(), Stderr::to(std::io::sink()), Arc::new(|_| {}));
    *rig.bridge.inner.programs.write().unwrap() =
        Programs::start(launch, rig.bridge.guard().policy()).unwrap();
    let refused = async |rules: &str| {
        let tools = "authorizer: { command: [./judge] }\ntools: { t0: { authorize: true } }";
        let next = policy(&format!("{tools}\n{rules}\n"));
        rig.bridge.replace_policy(next, Facts::default()).await.unwrap_err()
    };
    // For none of the tools, which shows when it is held against them.
    let why = refused(r#"rules: [{ name: x, that: 'args.nothing == "y"', because: B. }]"#).await;
    assert!(why.contains("applies to no tool"), "{why}");
    let why = refused("").await;
    assert!(why.contains("the program `authorizer` of the policy cannot be started"), "{why}");
}

#[tokio::test]
async fn a_policy_is_bound_to_many_tools_while_frames_go_on() {
    for (tools, is_waited_for) in [(64, false), (65, true), (2000, true)] {
        let rig = Rig::opened("", tools).await;
        while rig.bridge.guard().tools().count() < tools {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let (next, facts) = (policy("tools: { t1: { hidden: true } }\n"), Facts::default());
        // Nothing else runs on this thread until it is polled again: so long nothing may be left to do for it.
        let mut replacing = std::pin::pin!(rig.bridge.replace_policy(next.clone(), facts));
        let polled = std::future::poll_fn(|context| Poll::Ready(replacing.as_mut().poll(context))).await;
        assert_eq!(polled.is_pending(), is_waited_for, "{tools}");
        if is_waited_for {
            assert!(rig.bridge.guard().offers("t1"), "the one before decides until the next one is bound");
            replacing.await.unwrap();
        }
        assert!(!rig.bridge.guard().offers("t1") && rig.bridge.guard().lists("t0"));
        assert_eq!(rig.bridge.guard().policy().digest(), next.digest());
    }
}
