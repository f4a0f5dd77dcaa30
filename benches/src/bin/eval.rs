//! Prints how well the guard tells attacks from work: `eval [--data DIR] [--explain]`.
//!
//! Without `--data` it reads `benches/data/eval/`. Any folder of the same form can be read, a held-out half too.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use framegate_benches::eval::{replay::Replay, runs, texts};

const USAGE: &str = "usage: eval [--data DIR] [--explain]\n\n\
    --data DIR   read the files of DIR instead of benches/data/eval\n\
    --explain    print each honest call that is not allowed, and why, and each attack that is missed";

fn main() -> ExitCode {
    let mut folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data/eval"));
    let mut explain = false;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--explain") => explain = true,
            Some("--data") => match arguments.next() {
                Some(given) => folder = given.into(),
                None => return refuse("`--data` needs a folder"),
            },
            Some("--help" | "-h") => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            _ => return refuse(&format!("unknown argument `{}`", argument.display())),
        }
    }
    match run(&folder, explain) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => refuse(&format!("`{}`: {why}", folder.display())),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("eval: {why}\n\n{USAGE}");
    ExitCode::from(2)
}

fn run(folder: &std::path::Path, explain: bool) -> io::Result<()> {
    if let Some(mut replay) = Replay::read(folder)? {
        replay.print(explain)?;
    }
    runs::print(folder, explain)?;
    texts::print(folder)?;
    println!(
        "\nJSON Schema: the official suite and 4,811 rows of BFCL are tests (`guard/tests/schema_rows.rs`)."
    );
    Ok(())
}
