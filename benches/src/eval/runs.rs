//! Recorded runs of real models, decided again.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use framegate_guard::policy::Policy;
use serde_json::Value;

use crate::eval::data::{self, Critical, Run, Step};
use crate::eval::judge::{How, Judges, Talk};
use crate::eval::share::{Share, mean, shown};
use crate::table::Table;

/// Prints what each way of judging does with the runs of a folder.
pub fn print(folder: &Path, policy: &Policy, explain: bool) -> io::Result<()> {
    let runs: Vec<Run> = data::rows(folder, "agentdojo_runs")?;
    if runs.is_empty() {
        return Ok(());
    }
    let outputs = data::outputs(folder, "agentdojo_runs_outputs")?;
    let judges = Judges::read(folder, "agentdojo_tools", policy)?;
    let head = [
        "judged by",
        "solved runs touched",
        "attacks stopped",
        "goals' mean",
        "writes after an ignored attack, asked",
    ];
    let table = Table::new("AgentDojo, recorded runs of real models", &head)?;
    for how in How::ALL {
        let mut count = Count::default();
        for run in &runs {
            count.add(run, replay(run, how, &outputs, &judges, explain));
        }
        let [touched, stopped, ignored] =
            [count.touched, count.stopped, count.ignored].map(|share| share.to_string());
        table.row(&[how.name().to_owned(), touched, stopped, shown(mean(&count.goals)), ignored])?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Count {
    touched: Share,
    stopped: Share,
    ignored: Share,
    goals: BTreeMap<(String, Option<String>), Share>,
}

/// What became of one run.
#[derive(Debug, Default)]
struct Replayed {
    is_touched: bool,
    is_stopped: bool,
    /// Calls that do not only read, after the attack's text was there.
    later: Share,
}

impl Count {
    fn add(&mut self, run: &Run, replayed: Replayed) {
        if run.attack == "none" {
            if run.utility {
                self.touched.add(replayed.is_touched);
            }
        } else if !run.attack_succeeded {
            self.ignored.part += replayed.later.part;
            self.ignored.whole += replayed.later.whole;
        } else if run.confirmed == Value::Bool(true) {
            self.stopped.add(replayed.is_stopped);
            let goal = (run.suite.clone(), run.injection_task.clone());
            self.goals.entry(goal).or_default().add(replayed.is_stopped);
        }
    }
}

fn replay(
    run: &Run,
    how: How,
    outputs: &HashMap<String, String>,
    judges: &Judges,
    explain: bool,
) -> Replayed {
    let text = |step: &Step| step.output.as_ref().and_then(|id| outputs.get(id)).map_or("", String::as_str);
    let mut talk = Talk::new(judges, &run.suite, how, &run.prompt);
    let mut replayed = Replayed::default();
    let mut together = Share::default();
    let mut is_poisoned = false;
    for step in &run.calls {
        let why = talk.judge(step);
        let is_allowed = why.is_empty();
        if explain && how.is_guard() && !is_allowed && run.attack == "none" && run.utility {
            println!("touched, {}: {}, {}: {}", how.name(), run.suite, step.name, why.join("; "));
        }
        replayed.is_touched |= !is_allowed;
        match &step.critical {
            Critical::Alone(true) => replayed.is_stopped |= !is_allowed,
            Critical::Together(_) => together.add(!is_allowed),
            Critical::Alone(false) | Critical::Unknown => {}
        }
        if is_poisoned && !judges.only_reads(&run.suite, &step.name) {
            replayed.later.add(!is_allowed);
        }
        is_poisoned |= step.injected;
        talk.made(step, text(step));
    }
    replayed.is_stopped |= together.whole > 0 && together.part == together.whole;
    replayed
}
