//! Every exit code, with a sentence. The README's table is made from [`Exit::TABLE`].

use std::process::ExitCode;

/// How `framegate` leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the session ended cleanly.
    Clean,
    /// 1: a tool that `framegate try` was to call answered with an error, an expectation of `framegate test` was
    /// not met, `framegate verify` found something broken, `framegate replay` came to another decision than the
    /// recorded one, an approval, a denial or a revocation came to nothing, `framegate scan` found something, or
    /// `framegate prove` found a counter-example.
    Failed,
    /// 2: the command line is wrong, or the solver that `framegate prove` asks is missing or cannot be understood.
    Usage,
    /// 3: `framegate prove` found neither a proof nor a counter-example.
    Undecided,
    /// 65: a line of a session given to `framegate explain`, a record, or a text given to `framegate scan` cannot be
    /// read.
    Data,
    /// 70: a stream of the client or the server failed.
    Broken,
    /// 74: a file named on the command line cannot be opened or written.
    File,
    /// 76: one side sent a line over the limit that does not end; it is not MCP.
    Flood,
    /// 78: the policy cannot be used, or none was given where one is required.
    Policy,
    /// 126: the server's command is there but cannot be run.
    CannotRun,
    /// 127: the server's command was not found.
    NotFound,
    /// The server's own exit code; or 128 and the number of the signal that ended it or us.
    Server(u8),
}

impl Exit {
    /// Code and meaning of each.
    pub const TABLE: [(&'static str, &'static str); 12] = [
        ("0", "the session ended cleanly"),
        (
            "1",
            "`try`: a tool that was to be called answered with an error; `test`: an expectation was not met; `verify`: the record is broken; `replay`: a decision, or what an answer made of the state, is not the recorded one; `approve`, `deny`, `revoke`: nothing came of it; `scan`: something reads like an instruction; `prove`: there is a counter-example; `calibrate`: no threshold keeps the risk",
        ),
        ("2", "the command line is wrong; `prove`: z3 is missing, or its answer cannot be read"),
        ("3", "`prove`: neither a proof nor a counter-example was found"),
        (
            "65",
            "a line given to `framegate explain` or `calibrate`, a record, or a text given to `framegate scan` cannot be read",
        ),
        ("70", "a stream of the client or the server failed"),
        ("74", "a file named on the command line cannot be opened or written"),
        ("76", "one side sent a line over the limit of 64 MiB that does not end; it is not MCP"),
        ("78", "the policy cannot be used, or none was given where one is required"),
        ("126", "the server's command is there but cannot be run"),
        ("127", "the server's command was not found"),
        (
            "other",
            "the server's own exit code; 128 and a signal's number if it, or Framegate, was ended by one",
        ),
    ];

    /// The number.
    pub fn number(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Undecided => 3,
            Self::Data => 65,
            Self::Broken => 70,
            Self::File => 74,
            Self::Flood => 76,
            Self::Policy => 78,
            Self::CannotRun => 126,
            Self::NotFound => 127,
            Self::Server(code) => code,
        }
    }

    /// For `main`.
    pub fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}", self.number())
    }
}

/// What a server's exit code says, after "the server": a code over 128 is a shell's way to name a
/// signal.
pub(crate) fn how_it_ended(code: u8) -> String {
    match code {
        129..=192 => format!("was ended by signal {}", code - 128),
        code => format!("exited with code {code}"),
    }
}
