//! `framegate approver init`.

use crate::args::{ApproverArgs, ApproverCommand};
use crate::desk::approver::{self, Approver, PASSPHRASE_CHARS_MIN};
use crate::exit::Exit;
use crate::tty::{NoLine, Tty};

use super::out::{Failure, say};

pub(crate) fn main(args: &ApproverArgs) -> Exit {
    let ApproverCommand::Init { approver } = &args.command;
    match init(approver.as_deref()) {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

fn init(file: Option<&std::path::Path>) -> Result<(), Failure> {
    let path = approver::path(file).map_err(|text| Failure { exit: Exit::File, text })?;
    if path.exists() {
        // Before anything is typed.
        Approver::make(&path, "").map_err(|text| Failure { exit: Exit::File, text })?;
    }
    let mut tty = terminal()?;
    let shown = path.display();
    let about = format!(
        "Whoever knows this passphrase approves calls from a terminal. An agent that can read your files must not find it:\nwrite it down nowhere on this machine. At least {PASSPHRASE_CHARS_MIN} characters; `{shown}` will hold what proves it.\n"
    );
    tty.say(&about).map_err(|why| failed(&why))?;
    let passphrase = tty.secret("New passphrase: ").map_err(|why| untyped(&why))?;
    if passphrase.trim().chars().count() < PASSPHRASE_CHARS_MIN {
        return Err(not(&format!("a passphrase of fewer than {PASSPHRASE_CHARS_MIN} characters is guessed")));
    }
    let again = tty.secret("Once more: ").map_err(|why| untyped(&why))?;
    if passphrase != again {
        return Err(not("the two passphrases are not the same"));
    }
    Approver::make(&path, &passphrase).map_err(|text| Failure { exit: Exit::File, text })?;
    say(&format!("`{shown}` was written; sessions that start from now on let its passphrase approve"));
    Ok(())
}

/// The terminal that a person sits at.
pub(super) fn terminal() -> Result<Tty, Failure> {
    Tty::open().map_err(|why| {
        not(&format!("there is no terminal here ({why}), and a passphrase is only read from one: do this in a shell of your own"))
    })
}

pub(super) fn untyped(why: &NoLine) -> Failure {
    match why {
        NoLine::GaveUp => not("nothing was done"),
        NoLine::Failed(why) => failed(why),
        NoLine::TooLong => not("that is too long for a passphrase"),
    }
}

pub(super) fn failed(why: &std::io::Error) -> Failure {
    not(&format!("the terminal cannot be used: {why}"))
}

/// Nothing came of it.
pub(super) fn not(text: &str) -> Failure {
    Failure { exit: Exit::Failed, text: text.to_owned() }
}
