//! Record, then act: also where the decision is late, or the policy another one by then.

use std::sync::{Condvar, Mutex};

use framegate_guard::ledger::{Ended, LedgerFailure, Snapshot, StateNote, Step, Stepped};
use framegate_guard::store::event::{Event, How};
use framegate_guard::world::{Instant, Unknown};
use tokio::sync::watch;

use super::*;

/// A ledger whose commits the test lets through.
#[derive(Default)]
struct Gated {
    memory: MemoryLedger,
    is_open: watch::Sender<bool>,
    /// What was handed over to be recorded of each step and end.
    seen: Mutex<Vec<String>>,
}

impl Gated {
    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    async fn sees(&self, count: usize) {
        let seen = async {
            while self.seen().len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, seen).await.expect("nothing is recorded");
    }

    fn gate(&self, step: &Step, stepped: Stepped) -> Result<Stepped, LedgerFailure> {
        let Some(record) = &step.record else { return Err(LedgerFailure("no record".into())) };
        let failed = record.decision.failed().collect::<Vec<_>>().join(",");
        self.seen.lock().unwrap().push(format!("call {:?} {failed}", record.sent));
        let receipt = stepped.wait()?;
        let mut is_open = self.is_open.subscribe();
        let sequence = receipt.sequence;
        let commit = Box::pin(async move {
            is_open.wait_for(|is_open| *is_open).await.unwrap();
            Ok(receipt)
        });
        Ok(Stepped::Waiting { sequence, commit })
    }
}

impl Ledger for Gated {
    fn step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<Stepped, LedgerFailure> {
        let mut step = None;
        let stepped = self.memory.step(key, &mut |past| step.insert(decide(past)).clone())?;
        self.gate(&step.unwrap(), stepped)
    }

    fn step_apart(&self, key: &SessionKey, step: Step) -> Result<Stepped, LedgerFailure> {
        let stepped = self.memory.step_apart(key, step.clone())?;
        self.gate(&step, stepped)
    }

    fn settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Result<Option<StateNote>, LedgerFailure> {
        self.memory.settle(key, sequence, ended)
    }

    fn undo(&self, key: &SessionKey, sequence: u64) {
        self.memory.undo(key, sequence);
    }

    fn note(&self, event: Event) {
        if let Event::End(end) = event {
            assert_eq!(end.is_unsent, matches!(end.how, How::Refused | How::Cancelled));
            self.seen.lock().unwrap().push(format!("end {}", end.how.name()));
        }
    }
}

/// Paths that nobody can tell before the test says so.
#[derive(Default)]
struct Slow(Mutex<bool>, Condvar);

impl Slow {
    fn go(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }
}

impl World for Slow {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        drop(self.1.wait_while(self.0.lock().unwrap(), |goes| !*goes).unwrap());
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(Instant(0))
    }
}

/// Whatever fails in the test, a decision that waits lets the runtime end.
struct Goes(Arc<Slow>);

impl Drop for Goes {
    fn drop(&mut self) {
        self.0.go();
    }
}

const PATHS: &str = "rules: [{ name: paths, that: 'within(args.path, \"/work\")', because: no }]\n";

async fn rig(text: &str) -> (Rig, Arc<Gated>, Goes) {
    let (ledger, world) = (Arc::<Gated>::default(), Goes(Arc::default()));
    let mut rig = Rig::over(text, AskSettings::default(), ledger.clone(), world.0.clone());
    rig.list(1).await;
    (rig, ledger, world)
}

/// Large enough to be judged off the pump's thread.
fn slow_call() -> String {
    let more = "x".repeat(70 * 1024);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"t0","arguments":{{"path":"/work/a","more":"{more}"}}}}}}"#
    )
}

#[tokio::test]
async fn a_call_that_takes_too_long_to_judge_is_not_sent_before_its_record_in_monitor_mode_either() {
    let (mut rig, ledger, world) = rig(&format!("mode: monitor\n{PATHS}")).await;
    rig.client.says(&slow_call()).await;
    ledger.sees(1).await;
    rig.server.hears_nothing(Duration::from_millis(100)).await;
    ledger.is_open.send_replace(true);
    assert_eq!(rig.server.hears().await, slow_call());
    rig.server.says(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#).await;
    rig.client.hears().await;
    world.0.go();
    // Whatever the late decision were to write, it would have by the next call's.
    rig.client.says(&call("8", "t0")).await;
    rig.server.hears().await;
    let seen = ledger.seen();
    assert_eq!(seen.iter().filter(|row| row.contains("decision_time")).count(), 1, "{seen:?}");
    assert_eq!(seen[..2], ["call Verbatim decision_time", "end done"]);
    assert_eq!(seen.iter().filter(|row| row.starts_with("call")).count(), 2, "{seen:?}");
}

#[tokio::test]
async fn the_refusal_of_a_call_that_takes_too_long_to_judge_is_recorded_as_one() {
    let (mut rig, ledger, world) = rig(PATHS).await;
    rig.client.says(&slow_call()).await;
    ledger.sees(1).await;
    ledger.is_open.send_replace(true);
    let refused = rig.client.hears().await;
    assert!(refused.contains("could not be judged within 1 s"), "{refused}");
    world.0.go();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(ledger.seen(), ["call No decision_time", "end refused"]);
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_is_judged_is_recorded_as_never_sent() {
    for mode in ["enforce", "monitor"] {
        let (mut rig, ledger, world) = rig(&format!("mode: {mode}\n{PATHS}")).await;
        rig.client.says(&slow_call()).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        rig.client
            .says(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#)
            .await;
        rig.client.says(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await;
        rig.server.hears().await;
        world.0.go();
        ledger.sees(2).await;
        let seen = ledger.seen();
        assert!(seen[0].starts_with("call No "), "{mode}: {seen:?}");
        assert_eq!(seen[1..], ["end cancelled"], "{mode}");
    }
}

#[tokio::test]
async fn what_was_decided_stays_decided_when_the_policy_is_another_one_at_the_commit() {
    let (enforces, monitors) =
        ("tools: { t0: { hidden: true } }\n", "mode: monitor\ntools: { t0: { hidden: true } }\n");
    for (before, after, is_sent) in [(enforces, monitors, false), (monitors, enforces, true)] {
        let (mut rig, ledger, _world) = rig(before).await;
        rig.client.says(&call("7", "t0")).await;
        ledger.sees(1).await;
        rig.bridge.replace_policy(policy(after), Facts::default()).await.unwrap();
        ledger.is_open.send_replace(true);
        if is_sent {
            assert_eq!(rig.server.hears().await, call("7", "t0"));
        } else {
            while !rig.client.hears().await.contains("\"executed\":false") {}
        }
        let sent = if is_sent { "call Verbatim" } else { "call No" };
        assert!(ledger.seen()[0].starts_with(sent), "{:?}", ledger.seen());
    }
}

#[tokio::test]
async fn a_call_without_a_listing_keeps_the_policy_that_its_step_was_taken_by() {
    let ledger = Arc::<Gated>::default();
    let mut rig = Rig::over("", AskSettings::default(), ledger.clone(), Arc::<Slow>::default());
    let id = rig.open().await;
    rig.client.says(&call("7", "t0")).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    rig.server
        .says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"none"}}}}"#))
        .await;
    ledger.sees(1).await;
    rig.bridge.replace_policy(policy("mode: monitor\n"), Facts::default()).await.unwrap();
    ledger.is_open.send_replace(true);
    while !rig.client.hears().await.contains("\"executed\":false") {}
    assert_eq!(ledger.seen(), ["call No listing", "end refused"]);
}
