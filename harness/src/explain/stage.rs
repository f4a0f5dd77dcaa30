//! Where a session begins: its policy is loaded, from the command line or from its first line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use framegate_guard::praxiom::Dialect;
use framegate_guard::world::World;

use super::event::{self, Event};
use super::{Played, Player};
use crate::args::FactArgs;
use crate::policy_file::{self, LoadedPolicy, PolicyFileError};
use crate::program::Asking;

/// What a session decides by until it says otherwise.
#[derive(Clone)]
pub(crate) struct Setting {
    /// What the server is called.
    pub(crate) server: String,
    /// Policy files that the session names are relative to it.
    pub(crate) folder: PathBuf,
    pub(crate) facts: FactArgs,
    /// In which a policy of praxiom decides.
    pub(crate) dialect: Dialect,
    pub(crate) world: Arc<dyn World>,
    /// Starts what the policy asks; nothing where programs are not run.
    pub(crate) programs: Option<Arc<Asking>>,
}

/// A session, from its first line on.
pub(crate) struct Stage {
    setting: Setting,
    player: Option<Player>,
    /// The policy came from the command line: what the session says of it does not count.
    is_given: bool,
}

/// Why a line was not played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    #[error("{0}")]
    Line(String),
    #[error("{NO_POLICY}")]
    NoPolicy,
    #[error("the policy cannot be used\n{0}")]
    Policy(#[from] PolicyFileError),
    #[error("{0}")]
    Programs(String),
}

impl Stage {
    /// A session that names its policy itself.
    pub(crate) fn new(setting: Setting) -> Self {
        Self { setting, player: None, is_given: false }
    }

    /// A session under this policy; and what is odd about the policy.
    ///
    /// # Errors
    /// [`StageError::Policy`].
    pub(crate) fn under(setting: Setting, policy: &Path) -> Result<(Self, Vec<String>), StageError> {
        let loaded = policy_file::load(policy, setting.dialect, &setting.facts)?;
        let mut stage = Self { setting, player: None, is_given: true };
        let warnings = stage.begin(loaded)?;
        Ok((stage, warnings))
    }

    /// Who plays, once the policy is known.
    pub(crate) fn player(&self) -> Option<&Player> {
        self.player.as_ref()
    }

    /// Whether it matters which tools there are, and the session did not say it.
    pub(crate) fn needs_listing(&self) -> bool {
        self.player.as_ref().map(Player::guard).is_none_or(|guard| {
            let looks_at_schemas = guard.policy().praxiom().is_none();
            looks_at_schemas && !guard.is_listed()
        })
    }

    /// Plays one line.
    ///
    /// # Errors
    /// [`StageError`].
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Played, StageError> {
        match (event::read(line).map_err(StageError::Line)?, &mut self.player) {
            (Event::Nothing, _) => Ok(Played::Nothing),
            (Event::Policy(_) | Event::PolicyText(_), Some(_)) if self.is_given => Ok(Played::Nothing),
            (event, Some(player)) => player.play(event).map_err(StageError::Line),
            (Event::Policy(file), None) => {
                let path = self.setting.folder.join(file);
                let loaded = policy_file::load(&path, self.setting.dialect, &self.setting.facts)?;
                Ok(Played::Listed(self.begin(loaded)?))
            }
            (Event::PolicyText(text), None) => self.begin_with(&text).map(Played::Listed),
            (_, None) => Err(StageError::NoPolicy),
        }
    }

    fn begin_with(&mut self, text: &str) -> Result<Vec<String>, StageError> {
        const NAME: &str = "policy_text";
        let loaded = policy_file::parse(NAME, text.as_bytes(), (&self.setting.folder, self.setting.dialect))
            .map_err(PolicyFileError::Policy)?;
        let loaded = policy_file::with_facts(loaded, &self.setting.facts)?;
        self.begin(loaded)
    }

    fn begin(&mut self, loaded: LoadedPolicy) -> Result<Vec<String>, StageError> {
        let LoadedPolicy { policy, facts, warnings, .. } = loaded;
        if let Some(programs) = &self.setting.programs {
            programs.start(&policy).map_err(StageError::Programs)?;
        }
        let player = Player::new(policy, &self.setting.server, facts, Arc::clone(&self.setting.world));
        self.player = Some(if self.setting.programs.is_some() { player.running_programs() } else { player });
        Ok(warnings)
    }
}

/// Said where a session has begun and nobody said by which policy.
const NO_POLICY: &str = r#"no policy: give --policy FILE, or begin the session with {"policy":"FILE"}"#;
