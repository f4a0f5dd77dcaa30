//! `framegate explain`: one decision for each call of a session.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use framegate_guard::world::World;

use super::ask;
use super::out::{Failure, LINE_BYTES_MAX, Out, read_line, say};
use crate::args::ExplainArgs;
use crate::bridge::Disk;
use crate::exit::Exit;
use crate::explain::{Played, Setting, Stage, StageError, options};
use crate::program::Asking;

/// `run` always knows the tools: it asks the server.
const UNLISTED: &str =
    r#"warning: no {"tools":[…]} came before the first call, so calls are judged without the tools' schemas"#;

/// Options are those of tools.
const NO_OPTIONS: &str = r#"warning: --options shows what is in force for listed tools, and the session lists none: {"tools":[…]}"#;

pub(crate) fn main(args: &ExplainArgs) -> Exit {
    match play(args, &mut Out::stdout()) {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

fn play(args: &ExplainArgs, out: &mut Out) -> Result<(), Failure> {
    let mut stage = stage(args)?;
    let mut lines: Box<dyn BufRead> = if is_stdin(args) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(Failure::open(&args.events)?))
    };
    let name = args.events.display();
    let (mut number, mut is_warned) = (0_usize, false);
    let unread = |why: io::Error| Failure::read(&name.to_string(), &why);
    while let Some(line) = read_line(&mut lines, LINE_BYTES_MAX).map_err(unread)? {
        number += 1;
        let place = format!("{name}:{number}");
        let line = line.ok_or_else(|| Failure::too_long(&place))?;
        let played = stage.line(&line).map_err(|why| failure(&why, &place))?;
        if matches!(played, Played::Decided(_)) && !is_warned && stage.needs_listing() {
            is_warned = true;
            say(UNLISTED);
        }
        // Answered before the next line is read: whoever writes them may wait for it.
        answer(args, &stage, played, &place, out).map_err(|why| Failure::stdout(&why))?;
    }
    match stage.player() {
        Some(player) => {
            if args.options && !player.guard().is_listed() {
                say(NO_OPTIONS);
            }
            Ok(())
        }
        None => Err(failure(&StageError::NoPolicy, "")),
    }
}

fn is_stdin(args: &ExplainArgs) -> bool {
    args.events == Path::new("-")
}

fn stage(args: &ExplainArgs) -> Result<Stage, Failure> {
    let folder = args.events.parent().filter(|_| !is_stdin(args)).unwrap_or(Path::new(""));
    let disk: Arc<dyn World> = Arc::new(Disk::new(Path::new(".")));
    let policy = args.policy.policy.as_deref();
    let programs = args.run_programs.then(|| asking(policy, folder, Arc::clone(&disk))).transpose()?;
    let setting = Setting {
        server: args.name.clone(),
        folder: folder.to_owned(),
        facts: args.policy.facts.clone(),
        dialect: args.policy.dialect.dialect(),
        world: programs.clone().map_or(disk, |programs| programs),
        programs,
    };
    let Some(policy) = &args.policy.policy else { return Ok(Stage::new(setting)) };
    let (stage, warnings) = Stage::under(setting, policy).map_err(|why| failure(&why, ""))?;
    warnings.iter().for_each(|warning| say(warning));
    Ok(stage)
}

/// Programs that are really asked, from the policy's folder.
fn asking(policy: Option<&Path>, folder: &Path, disk: Arc<dyn World>) -> Result<Arc<Asking>, Failure> {
    let folder = policy.map_or(folder, |policy| policy.parent().unwrap_or(Path::new("")));
    ask::programs(folder, disk).map(Arc::new)
}

fn answer(args: &ExplainArgs, stage: &Stage, played: Played, place: &str, out: &mut Out) -> io::Result<()> {
    match played {
        Played::Nothing => Ok(()),
        Played::Decided(decided) => {
            out.line(&if args.json { decided.json() } else { decided.text(place) })?;
            out.flush()
        }
        Played::Listed(warnings) => {
            warnings.iter().for_each(|warning| say(warning));
            let shown = stage.player().filter(|player| args.options && player.guard().is_listed());
            for tool in shown.into_iter().flat_map(|player| options(player.guard())) {
                out.line(&if args.json { tool.json() } else { tool.text() })?;
            }
            out.flush()
        }
    }
}

fn failure(why: &StageError, place: &str) -> Failure {
    match why {
        StageError::NoPolicy | StageError::Policy(_) | StageError::Programs(_) => Failure::policy(why),
        StageError::Line(text) => Failure { exit: Exit::Data, text: format!("{place}: {text}") },
    }
}
