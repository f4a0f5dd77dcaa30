//! Progress while a call is held: a client that counts it as a sign of life does not give up.
//!
//! The server's own progress comes later, on the same token, and has to rise further (the protocol wants each value
//! above the one before). So all of ours together stays below a thousandth.

use std::sync::Arc;
use std::time::Duration;

use framegate_guard::json::{Kind, Value};
use framegate_pump::Injector;

use super::shared::Inner;
use crate::wire::ClientFrame;

/// How often a client hears that its call still waits.
const EVERY: Duration = Duration::from_secs(10);
/// What ours never reaches, however long a call waits.
const RISE_MAX: f64 = 0.001;

impl Inner {
    /// Tells the client now and then that its call waits, if it wants to hear so; for ever. It ends by being
    /// dropped, together with what is waited for.
    pub(super) async fn progress(self: Arc<Self>, read: Arc<ClientFrame>) {
        let Some((token, injector)) = token(&read).zip(self.injector.get()) else {
            return std::future::pending().await;
        };
        tell(&token, injector).await
    }
}

async fn tell(token: &str, injector: &Injector) {
    for nth in 1.. {
        tokio::time::sleep(EVERY).await;
        let params = params(token, nth);
        // A session that has ended needs no telling.
        let _ = injector.notify_client("notifications/progress", Some(&params));
    }
}

/// The client's token, as it is written: a number may have more digits than any of ours.
fn token(read: &ClientFrame) -> Option<String> {
    let token = read.params()?.get("_meta")?.get("progressToken")?;
    matches!(token.kind(), Kind::Number | Kind::String).then(|| Value::raw(token).to_owned())
}

fn params(token: &str, nth: u32) -> String {
    let progress = rise(nth);
    format!(r#"{{"progressToken":{token},"progress":{progress},"message":"waiting for a person's answer"}}"#)
}

/// Each above the one before, and all below [`RISE_MAX`].
fn rise(nth: u32) -> f64 {
    RISE_MAX * (1.0 - 1.0 / (f64::from(nth) + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_for_a_day_and_stays_below_a_thousandth() {
        let mut before = 0.0;
        for nth in 1..=24 * 360 {
            let progress: serde_json::Value = serde_json::from_str(&params("7", nth)).unwrap();
            let progress = progress["progress"].as_f64().unwrap();
            assert!(before < progress && progress < RISE_MAX, "{nth}: {progress}");
            before = progress;
        }
    }
}
