//! `framegate replay`: recorded decisions made again.

mod ends;
mod report;

use std::path::Path;

use framegate_guard::store::StoreError;

use self::report::Report;
use super::log::record_file;
use super::out::{Failure, Out, say, store_failure};
use crate::args::ReplayArgs;
use crate::calls::LogArguments;
use crate::exit::Exit;
use crate::history::again::{Other, Replayer};
use crate::history::choice::Choice;
use crate::history::file::RecordFile;
use crate::history::learn;
use crate::history::line::Line;
use crate::history::stated::Stated;
use crate::policy_file;

pub(crate) fn main(args: &ReplayArgs) -> Exit {
    match replay(args, &mut Out::stdout()) {
        Ok(exit) => exit,
        Err(failure) => failure.said(),
    }
}

fn replay(args: &ReplayArgs, out: &mut Out) -> Result<Exit, Failure> {
    let choice = Choice::of(&args.choice).map_err(|text| Failure { exit: Exit::Usage, text })?;
    let other = args.policy.as_deref().map(|path| other(path, args)).transpose()?;
    let (file, path) = record_file(args.file.as_ref())?;
    let failure = |why: StoreError| store_failure(&path, &why);
    if args.learn {
        let draft = learn::draft(&file, &choice).map_err(failure)?;
        return match draft {
            Some(Ok(text)) => written(out, [text.trim_end().to_owned()].iter()).map(|()| Exit::Clean),
            Some(Err(why)) => {
                let text =
                    format!("what was learned makes no policy that loads, so it is not written: {why}");
                Err(Failure { exit: Exit::Broken, text })
            }
            None => {
                let text = "the record has no allowed call from which a policy could be learned".to_owned();
                Err(Failure { exit: Exit::Data, text })
            }
        };
    }
    let report = run(&file, &choice, other).map_err(failure)?;
    let lines = if args.json { vec![report.json()] } else { report.text() };
    written(out, lines.iter())?;
    Ok(if report.is_fault() { Exit::Failed } else { Exit::Clean })
}

fn written<'a>(out: &mut Out, mut lines: impl Iterator<Item = &'a String>) -> Result<(), Failure> {
    lines.try_for_each(|line| out.line(line)).and_then(|()| out.flush()).map_err(|why| Failure::stdout(&why))
}

/// Another policy, with its facts.
fn other(path: &Path, args: &ReplayArgs) -> Result<Other, Failure> {
    let loaded = policy_file::read(path, args.dialect.dialect()).map_err(|why| Failure::policy(&why))?;
    loaded.warnings.iter().for_each(|warning| say(&warning.to_string()));
    let given =
        policy_file::given(&loaded.policy, &args.facts).map_err(|why| Failure::policy(&why.join("\n")))?;
    let wrong = framegate_guard::Facts::new(&loaded.policy, &given).err();
    if let Some(wrong) = wrong {
        return Err(Failure::policy(&wrong.join("\n")));
    }
    let facts = given.into_iter().map(|(name, value)| (name, value.source().clone())).collect();
    let stated = Stated::of(&args.paths, args.disk).map_err(|text| Failure { exit: Exit::Usage, text })?;
    Ok(Other { policy: loaded.policy, facts, stated })
}

/// Ends that have come since.
fn ended(report: &mut Report, replayer: &mut Replayer<'_>) -> Result<(), StoreError> {
    for end in replayer.ends() {
        let is_same = end.made.as_ref().is_ok_and(Vec::is_empty);
        let line = |replayer: &mut Replayer<'_>| {
            Line::of(end.call.clone(), &mut replayer.retracer, LogArguments::Redacted)
        };
        let line = if is_same { None } else { Some(line(replayer)?) };
        report.end(end, line.as_ref());
    }
    Ok(())
}

fn run(file: &RecordFile, choice: &Choice, other: Option<Other>) -> Result<Report, StoreError> {
    let mut report = Report::new(other.as_ref().map(|other: &Other| other.policy.name().to_owned()));
    let mut replayer = Replayer::new(file, other);
    replayer.calls(file, |replayer, call| {
        let session = replayer.retracer.session(&call.record)?.unwrap_or_default();
        if !choice.takes(&call, &session) {
            return Ok(());
        }
        ended(&mut report, replayer)?;
        let again = replayer.call(&call.record)?;
        if let Ok(again) = &again {
            replayer.watch(&call, again);
        }
        if report.wants(again.as_ref()) {
            let line = Line::of(call, &mut replayer.retracer, LogArguments::Redacted)?;
            report.add(again, &line);
        } else {
            report.same();
        }
        Ok(())
    })?;
    ended(&mut report, &mut replayer)?;
    report.rests_on(replayer.notes());
    for rule in replayer.unreached() {
        say(&format!(
            "warning: the rule `{rule}` is for none of the tools that the record has calls of, so it decided nothing here. If it is for none of the server's tools (a misspelt argument?), every call asks under `run`: `framegate check POLICY -- SERVER` tells"
        ));
    }
    Ok(report)
}
