//! The subcommands.

mod approve;
mod approver;
mod ask;
mod calibrate;
mod check;
mod demo_server;
mod explain;
mod import;
mod init;
mod log;
mod man;
mod new_file;
mod out;
mod pending;
mod prove;
mod replay;
mod run;
mod scan;
mod show;
mod test;
mod try_out;
pub(crate) mod verify;

use std::io::{IsTerminal, Write};

use clap::CommandFactory;

use crate::args::{Cli, Command};
use crate::exit::Exit;

pub(crate) fn main() -> Exit {
    let cli = match Cli::typed(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout and are no error; nothing is to be done if printing fails.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Clean };
        }
    };
    match cli.command {
        Command::Run(args) => run::main(*args, cli.color.on(std::io::stderr().is_terminal())),
        Command::Try(args) => try_out::main(&args, cli.color.on(std::io::stdout().is_terminal())),
        Command::Init(args) => init::main(&args),
        Command::Import(args) => import::main(&args),
        Command::Check(args) => check::main(&args),
        Command::Explain(args) => explain::main(&args),
        Command::Test(args) => test::main(&args),
        Command::Prove(args) => prove::main(&args),
        Command::Scan(args) => scan::main(&args),
        Command::Calibrate(args) => calibrate::main(&args),
        Command::Log(args) => log::main(&args),
        Command::Show(args) => show::main(&args),
        Command::Replay(args) => replay::main(&args),
        Command::Verify(args) => verify::main(&args),
        Command::Pending(args) => pending::main(&args),
        Command::Approve(args) => approve::approve(&args),
        Command::Deny(args) => approve::deny(&args),
        Command::Revoke(args) => approve::revoke(&args),
        Command::Approver(args) => approver::main(&args),
        Command::DemoServer => demo_server::main(),
        Command::Completions { shell } => print(|out| {
            clap_complete::generate(shell, &mut Cli::command(), "framegate", out);
            Ok(())
        }),
        Command::Man { subcommand } => man::main(&subcommand),
    }
}

fn print(make: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Exit {
    let mut text = Vec::new();
    match make(&mut text).and_then(|()| std::io::stdout().write_all(&text)) {
        Ok(()) => Exit::Clean,
        Err(_) => Exit::File,
    }
}
