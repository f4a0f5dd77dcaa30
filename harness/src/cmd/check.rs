//! `framegate check`: what is wrong with a policy, alone and beside the server it is for.

mod beside;
mod differ;
mod report;

use std::collections::BTreeMap;
use std::path::Path;

use framegate_guard::policy::{Beside, Loaded, Severity};

use self::beside::beside;
use self::report::{Finding, Report};
use super::ask::{self, Asked};
use super::out::{Failure, Out};
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::policy_file::{self, PolicyFileError};
use crate::program;

pub(crate) fn main(args: &CheckArgs) -> Exit {
    let report = check(args);
    let is_fine = report.count(Severity::Error) == 0 && !(args.strict && report.count(Severity::Warning) > 0);
    // A check that ended before anything was found has nothing to say beside why.
    let is_silent = !args.json && report.failure.is_some() && report.found.is_empty();
    if !is_silent {
        let mut out = Out::stdout();
        let text = if args.json { report.json() } else { report.text() };
        if let Err(why) = out.line(&text).and_then(|()| out.flush()) {
            return Failure::stdout(&why).said();
        }
    }
    match report.failure {
        Some(failure) if args.json => failure.exit,
        Some(failure) => failure.said(),
        None if is_fine => Exit::Clean,
        None => Exit::Policy,
    }
}

fn check(args: &CheckArgs) -> Report {
    let mut report = Report {
        policy: args.policy.display().to_string(),
        found: Vec::new(),
        server: None,
        failure: None,
        programs: BTreeMap::new(),
        shows_options: args.tools,
    };
    let read = if args.policy == Path::new("-") {
        policy_file::read_stdin(args.dialect.dialect())
    } else {
        policy_file::read(&args.policy, args.dialect.dialect())
    };
    let Loaded { policy, warnings } = match read {
        Ok(loaded) => loaded,
        Err(PolicyFileError::Policy(errors)) => {
            report.found.extend(errors.problems().iter().cloned().map(Finding::Placed));
            return report;
        }
        Err(why) => {
            report.failure = Some(Failure::policy(&why));
            return report;
        }
    };
    report.found.extend(warnings.into_iter().map(Finding::Placed));
    let folder = args.policy.parent().filter(|_| args.policy != Path::new("-")).unwrap_or(Path::new(""));
    if let Err(why) = program::check(&policy, folder) {
        report.found.push(Finding::Said(Severity::Error, why.to_string()));
    }
    report.programs = policy.programs_asked();
    let facts = policy_file::facts(&policy, &args.facts);
    if let Err(wrong) = &facts {
        report.found.extend(wrong.iter().map(|why| Finding::Said(Severity::Error, why.clone())));
    }
    let facts = facts.ok();
    match asked(args) {
        None => {
            let server = args.name.as_deref();
            report.found.extend(server.and_then(|server| policy.unmatched(server)).map(Finding::Placed));
            let facts = facts.as_ref();
            let hears_user = Some(args.context.is_some());
            let beside = Beside { facts, server, listing: None, hears_user, exists: None };
            report.found.extend(policy.advise(&beside).into_iter().map(Finding::Placed));
        }
        Some(Ok((name, asked))) => {
            let (server, found) =
                beside(&policy, facts.as_ref(), &name, (args.cwd.as_deref(), args.context.is_some()), asked);
            report.found.extend(found);
            report.server = Some(server);
        }
        Some(Err(failure)) => report.failure = Some(failure),
    }
    report.sort();
    report
}

/// The server's name and what it lists; nothing where no server was named.
fn asked(args: &CheckArgs) -> Option<Result<(String, Asked), Failure>> {
    let [program, arguments @ ..] = args.command.as_slice() else { return None };
    let name = ask::name_of(args.name.as_deref(), program, arguments);
    let asked = ask::ask(&args.command, args.cwd.as_deref(), args.timeout);
    Some(asked.map(|asked| (name.as_str().to_owned(), asked)))
}
