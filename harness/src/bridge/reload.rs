//! A new policy file takes the old one's place while the session runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use framegate_guard::{Facts, policy::Policy};
use tokio::signal::unix::{SignalKind, signal};

use super::shared::Bridge;
use crate::calls::Level;
use crate::policy_file::{Stamp, stamp_of, stamp_to_keep};

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Reads the policy anew on SIGUSR1 and when its file has changed, for as long as it is polled. A file that
/// cannot be used is reported, and the policy that is in force stays.
///
/// `stamp`: how the file looked before the policy in force was read from it. A change since then counts, however
/// long ago this begins.
pub(crate) async fn follow(
    bridge: Arc<Bridge>,
    (file, mut stamp): (PathBuf, Stamp),
    load: impl Fn() -> Result<(Policy, Facts, Vec<String>), String>,
) {
    let mut asked = signal(SignalKind::user_defined1()).ok();
    let mut changing = stamp;
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    loop {
        let is_asked = tokio::select! {
            _ = ticks.tick() => false,
            () = heard(&mut asked) => true,
        };
        let now = stamp_of(&file);
        // Half a policy may be a laxer one: a file counts when it has not changed between two looks.
        let is_still = std::mem::replace(&mut changing, now) == now;
        if !is_asked && (now == stamp || !is_still) {
            continue;
        }
        stamp = stamp_to_keep(&file);
        let loaded = match load() {
            // Looked at again for certainty, or only touched.
            Ok((policy, ..)) if !is_asked && policy.digest() == bridge.guard().policy().digest() => Ok(()),
            Ok((policy, facts, warnings)) => {
                warnings.iter().for_each(|warning| bridge.say_lines(Level::Warn, warning));
                bridge.replace_policy(policy, facts).await
            }
            Err(why) => Err(why),
        };
        if let Err(why) = loaded {
            let text = format!("the changed policy cannot be used, the one before stays in force:\n{why}");
            bridge.say_lines(Level::Error, &text);
        }
    }
}

async fn heard(signals: &mut Option<tokio::signal::unix::Signal>) {
    match signals {
        Some(signals) => drop(signals.recv().await),
        None => std::future::pending().await,
    }
}
