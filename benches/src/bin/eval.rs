//! Prints how well the guard tells attacks from work: `eval [--data DIR] [--policy FILE] [--explain]`.
//!
//! Without `--data` it reads `benches/data/eval/`. Any folder of the same form can be read, a held-out half too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use framegate_benches::eval::{cases, replay::Replay, runs, texts};
use framegate_guard::policy::Policy;

const USAGE: &str = "usage: eval [--data DIR] [--policy FILE] [--explain]\n\n\
    --data DIR      read the files of DIR instead of benches/data/eval\n\
    --policy FILE   decide by FILE instead of benches/data/eval/policy.yaml\n\
    --explain       print each honest call that is not allowed, and why, and each attack that is missed";

fn main() -> ExitCode {
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data/eval"));
    let (mut folder, mut policy, mut explain) = (own.clone(), own.join("policy.yaml"), false);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let place = match argument.to_str() {
            Some("--explain") => {
                explain = true;
                continue;
            }
            Some("--data") => &mut folder,
            Some("--policy") => &mut policy,
            Some("--help" | "-h") => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            _ => return refuse(&format!("unknown argument `{}`", argument.display())),
        };
        let Some(given) = arguments.next() else {
            return refuse(&format!("`{}` needs a value", argument.display()));
        };
        *place = given.into();
    }
    match run(&folder, &policy, explain) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => refuse(&why.to_string()),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("eval: {why}\n\n{USAGE}");
    ExitCode::from(2)
}

fn run(folder: &Path, policy: &Path, explain: bool) -> io::Result<()> {
    let name = policy.display().to_string();
    let text = fs::read(policy).map_err(|why| io::Error::other(format!("`{name}`: {why}")))?;
    let policy = Policy::load(&name, &text, &mut |file| Err(format!("`{file}` is not read")));
    let policy = policy.map_err(|why| io::Error::other(why.to_string()))?.policy;
    let replay = Replay::read(folder, &policy, explain)?;
    if let Some(replay) = &replay {
        replay.print()?;
    }
    runs::print(folder, &policy, explain)?;
    cases::print(folder, &policy, explain)?;
    texts::print(folder)?;
    println!(
        "\nJSON Schema: the official suite and the rows of BFCL are tests (`guard/tests/schema_rows.rs`)."
    );
    Ok(())
}
