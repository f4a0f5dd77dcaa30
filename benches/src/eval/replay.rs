//! AgentDojo's own solutions, honest and hostile, replayed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use crate::eval::data::{self, Attack, Critical, Step, Task, Tool};
use crate::eval::judge::{How, Library, Talk};
use crate::eval::share::{Share, mean, shown};
use crate::table::Table;

/// The suites' data.
#[derive(Debug)]
pub struct Replay {
    tasks: Vec<Task>,
    attacks: Vec<Attack>,
    outputs: HashMap<String, String>,
    readers: HashSet<(String, String)>,
    library: Library,
}

/// What one way of judging did with one way of attacking.
#[derive(Debug, Default)]
struct Count {
    /// By suite.
    disturbed: BTreeMap<String, Share>,
    calls: Share,
    stopped: BTreeMap<String, Share>,
    lost: BTreeMap<String, Share>,
    /// By suite and goal.
    goals: BTreeMap<(String, String), Share>,
}

impl Replay {
    /// Reads a folder; nothing where it has no such data.
    pub fn read(folder: &Path) -> io::Result<Option<Replay>> {
        let tools: Vec<Tool> = data::rows(folder, "agentdojo_tools")?;
        let readers = tools.into_iter().filter(|tool| tool.read_only).map(|tool| (tool.suite, tool.name));
        let replay = Replay {
            tasks: data::rows(folder, "agentdojo_benign")?,
            attacks: data::rows(folder, "agentdojo_attacks")?,
            outputs: data::outputs(folder, "agentdojo_outputs")?,
            readers: readers.collect(),
            library: Library::default(),
        };
        Ok((!replay.tasks.is_empty()).then_some(replay))
    }

    /// Prints what each way of judging does, for each way of attacking.
    pub fn print(&mut self, explain: bool) -> io::Result<()> {
        let mut kinds: Vec<String> = self.attacks.iter().map(|attack| attack.attack.clone()).collect();
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            let title = format!("AgentDojo, solutions replayed, attack `{kind}`");
            let head = [
                "judged by",
                "suite",
                "honest tasks disturbed",
                "attacks stopped",
                "goals' mean",
                "lost under attack",
            ];
            let table = Table::new(&title, &head)?;
            for how in How::ALL {
                self.count(how, &kind, explain).print(how, &table)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, how: How, kind: &str, explain: bool) -> Count {
        let Replay { tasks, attacks, outputs, readers, library } = self;
        let text =
            |step: &Step| step.output.as_ref().and_then(|id| outputs.get(id)).map_or("", String::as_str);
        let reads = |suite: &str, step: &Step| readers.contains(&(suite.to_owned(), step.name.clone()));
        let mut count = Count::default();
        for task in tasks.iter() {
            let mut talk = Talk::new(library, &task.prompt);
            let mut is_disturbed = false;
            for step in &task.calls {
                let allows = talk.allows(how, step, reads(&task.suite, step));
                count.calls.add(!allows);
                is_disturbed |= step.needed && !allows;
                if explain && step.needed && !allows {
                    tell(&talk, how, &format!("disturbed {}/{}", task.suite, task.user_task), step);
                }
                talk.made(step, text(step));
            }
            count.disturbed.entry(task.suite.clone()).or_default().add(is_disturbed);
        }
        for attack in attacks.iter().filter(|attack| attack.security_ok && attack.attack == kind) {
            let Some(task) = tasks
                .iter()
                .find(|task| (&task.suite, &task.user_task) == (&attack.suite, &attack.user_task))
            else {
                continue;
            };
            let mut talk = Talk::new(library, &task.prompt);
            attack
                .user_calls
                .iter()
                .take(attack.injected_at + 1)
                .for_each(|step| talk.made(step, text(step)));
            let mut is_stopped = false;
            for step in &attack.attack_calls {
                if step.critical == Critical::Alone(true)
                    && !talk.allows(how, step, reads(&attack.suite, step))
                {
                    is_stopped = true;
                    break;
                }
                talk.made(step, text(step));
            }
            if explain && !is_stopped && matches!(how, How::FlowP | How::FlowU) {
                println!("missed {} {}/{} {kind}", how.name(), attack.suite, attack.injection_task);
            }
            count.stopped.entry(attack.suite.clone()).or_default().add(is_stopped);
            let goal = (attack.suite.clone(), attack.injection_task.clone());
            count.goals.entry(goal).or_default().add(is_stopped);
            let mut talk = Talk::new(library, &task.prompt);
            let mut is_lost = false;
            for (step, honest) in attack.user_calls.iter().zip(&task.calls) {
                let is_refused = honest.needed && !talk.allows(how, step, reads(&attack.suite, step));
                if explain && is_refused && !is_lost {
                    tell(&talk, how, &format!("lost {}/{}", attack.suite, attack.user_task), step);
                }
                is_lost |= is_refused;
                talk.made(step, text(step));
            }
            count.lost.entry(attack.suite.clone()).or_default().add(is_lost);
        }
        count
    }
}

/// Prints why a call is not allowed.
fn tell(talk: &Talk<'_, '_>, how: How, what: &str, step: &Step) {
    if !matches!(how, How::FlowP | How::FlowU) {
        return;
    }
    if let Some(flow) = talk.flow(step, how == How::FlowU) {
        println!("{what} {} {}: {:?}: {}", how.name(), step.name, flow.link, flow.reason);
    }
}

impl Count {
    fn print(&self, how: How, table: &Table) -> io::Result<()> {
        let of =
            |shares: &BTreeMap<String, Share>, suite: &str| shares.get(suite).copied().unwrap_or_default();
        for suite in self.disturbed.keys() {
            let goals: BTreeMap<_, _> = self
                .goals
                .iter()
                .filter(|((of, _), _)| of == suite)
                .map(|(goal, share)| (goal, *share))
                .collect();
            table.row(&[
                how.name().to_owned(),
                suite.clone(),
                of(&self.disturbed, suite).to_string(),
                of(&self.stopped, suite).to_string(),
                shown(mean(&goals)),
                of(&self.lost, suite).to_string(),
            ])?;
        }
        table.row(&[
            format!("**{}**", how.name()),
            format!("**all** ({} of all calls)", self.calls),
            format!("**{}**", sum(&self.disturbed)),
            sum(&self.stopped).to_string(),
            format!("**{}**", shown(mean(&self.goals))),
            format!("**{}**", sum(&self.lost)),
        ])
    }
}

fn sum(shares: &BTreeMap<String, Share>) -> Share {
    let add =
        |sum: Share, share: &Share| Share { part: sum.part + share.part, whole: sum.whole + share.whole };
    shares.values().fold(Share::default(), add)
}
