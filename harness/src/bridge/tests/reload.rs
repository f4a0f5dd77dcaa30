//! What is seen of a policy file that changes.

use super::*;
use crate::bridge::follow;
use crate::policy_file::stamp_to_keep;

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
