//! Prints which writes of recorded conversations `confirm` lets through: `confirm DIR [--explain]`.
//!
//! DIR holds `tau_airline_gpt4o.jsonl.gz` (`{id, reward, messages: [{role, content, calls}]}`) and `tau_tools.jsonl`.
//! These data are not the project's to give away.

use std::path::PathBuf;
use std::process::ExitCode;

use framegate_benches::eval::confirm;

fn main() -> ExitCode {
    let (mut folder, mut explain) = (None, false);
    for argument in std::env::args_os().skip(1) {
        if argument == "--explain" {
            explain = true;
        } else {
            folder = Some(PathBuf::from(argument));
        }
    }
    let Some(folder) = folder else {
        eprintln!("usage: confirm DIR [--explain]");
        return ExitCode::from(2);
    };
    match confirm::print(&folder, explain) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("confirm: `{}` has no writes of solved conversations", folder.display());
            ExitCode::from(2)
        }
        Err(why) => {
            eprintln!("confirm: {why}");
            ExitCode::from(2)
        }
    }
}
