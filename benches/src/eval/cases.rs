//! InjecAgent: one poisoned output, then what a model really called. Read only where a folder has it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use framegate_guard::policy::Policy;
use serde::Deserialize;
use serde_json::Value;

use crate::eval::data::{self, Critical};
use crate::eval::judge::{How, Judges, Talk};
use crate::eval::share::Share;
use crate::table::Table;

const SUITE: &str = "injecagent";

#[derive(Deserialize)]
struct Case {
    setting: String,
    kind: String,
    prompt: String,
    goal: String,
    user_call: Made,
    attack_calls: Vec<Made>,
}

/// A call with what came back.
#[derive(Deserialize)]
struct Made {
    name: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    critical: Critical,
}

impl Made {
    fn step(&self) -> data::Step {
        let (name, arguments) = (self.name.clone(), self.arguments.clone());
        data::Step { name, arguments, critical: self.critical.clone(), ..data::Step::default() }
    }

    fn text(&self) -> String {
        self.output.as_str().map_or_else(|| self.output.to_string(), str::to_owned)
    }
}

/// Prints what each way of judging does with the cases of a folder.
pub fn print(folder: &Path, policy: &Policy, explain: bool) -> io::Result<()> {
    let cases: Vec<Case> = data::rows(folder, "injecagent_cases")?;
    if cases.is_empty() {
        return Ok(());
    }
    let judges = Judges::read(folder, "injecagent_tools", policy)?;
    let table = Table::new("InjecAgent, calls of real models", &["judged by", "setting", "attacks stopped"])?;
    for how in How::ALL {
        let mut shares: BTreeMap<String, Share> = BTreeMap::new();
        for case in &cases {
            let mut talk = Talk::new(&judges, SUITE, how, &case.prompt);
            talk.made(&case.user_call.step(), &case.user_call.text());
            let mut is_stopped = false;
            for made in &case.attack_calls {
                is_stopped |= made.critical == Critical::Alone(true) && !talk.judge(&made.step()).is_empty();
                talk.made(&made.step(), &made.text());
            }
            if explain && how.is_guard() && !is_stopped {
                println!("missed, {}: {} {}: {}", how.name(), case.setting, case.kind, case.goal);
            }
            shares.entry(format!("{} {}", case.setting, case.kind)).or_default().add(is_stopped);
            shares.entry("all".to_owned()).or_default().add(is_stopped);
        }
        for (setting, share) in &shares {
            table.row(&[how.name().to_owned(), setting.clone(), share.to_string()])?;
        }
    }
    Ok(())
}
