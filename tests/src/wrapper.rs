//! Which program stands between the client and the fake server.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The command a server command line is appended to, and where the fake server is.
#[derive(Debug, Clone)]
pub struct Wrapper {
    command: Vec<OsString>,
    fake_server: PathBuf,
}

impl Wrapper {
    /// `FRAMEGATE_BIN` if it is set, else the binary cargo built beside the tests.
    ///
    /// `FRAMEGATE_BIN=direct` runs without any wrapper: the baseline that shows what a case asks
    /// of the fake server alone.
    pub fn find(built: Option<&str>, fake_server: &str) -> Self {
        let binary = std::env::var_os("FRAMEGATE_BIN").or_else(|| built.map(OsString::from));
        let binary = binary.expect("set FRAMEGATE_BIN: this build has no framegate-under-test");
        if binary == "direct" {
            return Self { command: Vec::new(), fake_server: fake_server.into() };
        }
        // No test writes into the record of whoever runs it; one about records names its own.
        let command = ["run", "--store", "none", "--"].map(OsString::from);
        Self { command: [vec![binary], command.to_vec()].concat(), fake_server: fake_server.into() }
    }

    /// The same fake server with nothing in between.
    pub fn without_wrapper(&self) -> Self {
        Self { command: Vec::new(), fake_server: self.fake_server.clone() }
    }

    /// Options for `framegate run`, put before the `--`.
    pub fn with_options<S: Into<OsString>>(mut self, options: impl IntoIterator<Item = S>) -> Self {
        if let Some(dashes) = self.command.pop() {
            self.command.extend(options.into_iter().map(Into::into));
            self.command.push(dashes);
        }
        self
    }

    /// Another command line between this one and the server's.
    pub fn behind(mut self, inner: Vec<OsString>) -> Self {
        self.command.extend(inner);
        self
    }

    /// True for the baseline without a wrapper.
    pub fn is_direct(&self) -> bool {
        self.command.is_empty()
    }

    /// The whole command line around a server's command line.
    pub fn around(&self, server: Vec<OsString>) -> Vec<OsString> {
        let mut command = self.command.clone();
        command.extend(server);
        command
    }

    /// The command line of the fake server in one of its modes.
    pub fn fake_server(&self, mode: &str, file: &Path, record: &Path, more: &[String]) -> Vec<OsString> {
        let mut server = vec![self.fake_server.clone().into(), mode.into(), file.into(), record.into()];
        server.extend(more.iter().map(OsString::from));
        server
    }
}
