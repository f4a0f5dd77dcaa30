//! What can be typed about the conversation that a session is decided by.

use std::path::PathBuf;

use clap::Args;

use crate::context::{ContextFile, ContextSettings};

/// Where the user's words come from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ContextArgs {
    /// Follow this file for what the user says: JSON lines `{"message":{"role":"user","content":"…"}}`, appended before
    /// the calls they are for; the assistant's too where a policy has `confirm`. Without it, what a policy wants from the user's words asks
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CONTEXT")]
    pub(crate) context: Option<PathBuf>,

    /// Messages and tool outputs that are kept, 0 for all [default: the policy's `context`, 50]
    #[arg(long, value_name = "N", env = "FRAMEGATE_CONTEXT_MESSAGES")]
    pub(crate) context_messages: Option<usize>,

    /// Characters of them in all, 0 for no limit [default: the policy's `context`, 100000]
    #[arg(long, value_name = "N", env = "FRAMEGATE_CONTEXT_CHARS")]
    pub(crate) context_chars: Option<usize>,
}

impl ContextArgs {
    /// # Errors
    /// A sentence, where the file can never be followed.
    pub(crate) fn settings(&self) -> Result<ContextSettings, String> {
        let file = self.context.as_deref().map(ContextFile::follow).transpose()?;
        Ok(ContextSettings { file, messages: self.context_messages, chars: self.context_chars })
    }
}
