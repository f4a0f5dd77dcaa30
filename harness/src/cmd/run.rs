//! `framegate run`: settings, server, session, exit code, in that order.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use framegate_guard::Guard;
use framegate_guard::ledger::{MemoryLedger, SessionKey};
use framegate_pump::IdLimits;

use crate::args::{Mode, Noise, RunArgs, Store};
use crate::bridge::{Bridge, BridgeSettings, Disk, Visible, follow};
use crate::calls::{CallLog, Level};
use crate::child::{ServerCommand, ServerName, StartError, Upstream};
use crate::exit::{Exit, how_it_ended};
use crate::noise::DivertNoise;
use crate::policy_file::{self, Stamp};
use crate::record::Recorder;
use crate::resolve::ResolveError;
use crate::session::{EndedFor, Outcome, Session, Settings, Stop};
use crate::stderr::Stderr;
use crate::stdio::Stdio;
use crate::variables;

/// How long the last lines may take; whoever reads stderr may not read it any more.
const LAST_LINES: Duration = Duration::from_millis(200);

pub(crate) fn main(args: RunArgs, color: bool) -> Exit {
    let stderr = Stderr::start();
    let exit = match tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => {
            let exit = runtime.block_on(run(args, color, &stderr));
            // A read of a terminal that is still pending must not keep us.
            runtime.shutdown_background();
            exit
        }
        Err(why) => {
            stderr.line(&format!("framegate: error: no event loop: {why}"));
            Exit::Broken
        }
    };
    stderr.flush(LAST_LINES);
    exit
}

async fn run(args: RunArgs, color: bool, stderr: &Stderr) -> Exit {
    let Store::None = args.store;
    if let Some(option) =
        args.command.first().and_then(|word| word.to_str()).filter(|word| word.starts_with('-'))
    {
        stderr.line(&format!("framegate: error: there is no option `{option}` of `run`; see framegate run --help. The server's command comes after `--`"));
        return Exit::Usage;
    }
    let command = server_command(&args, stderr);
    let name = args.name.as_deref().map_or_else(|| command.name(), ServerName::given);
    let log = CallLog::new(stderr.clone(), name.clone(), args.level(), args.format(color));
    let log = Arc::new(if args.noise == Noise::Stderr { log.diverting_noise() } else { log });
    let names = std::env::vars_os().map(|(name, _)| name);
    variables::unknown(names).iter().for_each(|warning| log.say(Level::Warn, warning));
    let recorder = match args.record.as_deref().map(|path| Recorder::create(path, stderr.clone())).transpose()
    {
        Ok(recorder) => recorder.map(Arc::new),
        Err(why) => {
            let path = args.record.unwrap_or_default();
            log.say(Level::Error, &format!("the record `{}` cannot be written: {why}", path.display()));
            return Exit::File;
        }
    };
    let mut settings =
        Settings { grace: args.grace, drain: args.drain, name: Some(name.clone()), ..Settings::default() };
    settings.observers.push(log.clone());
    if let Some(recorder) = &recorder {
        settings.observers.push(recorder.clone());
    }
    let noise = (args.noise == Noise::Stderr).then(|| stderr.clone());
    let exit = match guarded(&args, &name, &log, noise.clone()) {
        Ok(bridge) => {
            match (bridge, noise) {
                (Some((bridge, stamp)), _) => plug_in(&args, &bridge, stamp, &mut settings),
                (None, Some(noise)) => settings.interceptor = Arc::new(DivertNoise(noise)),
                (None, None) => {}
            }
            run_session(command, settings, &log).await
        }
        Err(why) => without_policy(&why, settings, &log).await,
    };
    if let Some(recorder) = recorder {
        recorder.finish();
    }
    log.finish();
    exit
}

/// No server is started. The client's first request is answered with the reason, so that it shows there: nobody
/// reads the log of a client that says "connection closed".
async fn without_policy(why: &str, mut settings: Settings, log: &CallLog) -> Exit {
    log.say(Level::Error, why);
    settings.no_server = Some(format!("framegate did not start the MCP server: {why}"));
    if let Ok(stdio) = Stdio::open() {
        let session = Session::new(Upstream::streams(tokio::io::empty(), tokio::io::sink()), settings);
        let _ = session.run(stdio.input, stdio.output).await;
        drop(stdio.flags);
    }
    Exit::Policy
}

/// The policy is loaded before the server starts and before a byte of the client's is read.
///
/// # Errors
/// Why there is no guard although there should be one; for the log and the client.
fn guarded(
    args: &RunArgs,
    name: &ServerName,
    log: &Arc<CallLog>,
    noise: Option<Stderr>,
) -> Result<Option<(Arc<Bridge>, Stamp)>, String> {
    let Some(file) = &args.policy.policy else {
        if args.require_policy {
            return Err(
                "no policy was given, and one is required (--require-policy): add --policy FILE".into()
            );
        }
        let facts = &args.policy.facts;
        if args.mode.is_some() || !facts.fact.is_empty() || facts.facts.is_some() {
            return Err(
                "--mode, --fact and --facts are about a policy, and none was given: add --policy FILE".into(),
            );
        }
        let text = "no policy: every call is passed on and logged, nothing is enforced (--policy FILE)";
        log.say(Level::Info, text);
        return Ok(None);
    };
    // Before it is read: what changes from now on is seen.
    let stamp = policy_file::stamp_to_keep(file);
    let loaded = policy_file::load(file, &args.policy.facts).map_err(|why| why.to_string())?;
    if args.mode == Some(Mode::Enforce) && loaded.policy.mode() == framegate_guard::policy::Mode::Monitor {
        let text = "--mode enforce was given, and the policy says `mode: monitor`: change one of them";
        return Err(text.into());
    }
    loaded.warnings.iter().for_each(|warning| log.say(Level::Warn, warning));
    let guard =
        Guard::new(loaded.policy, name.as_str(), loaded.facts).monitoring(args.mode == Some(Mode::Monitor));
    let cwd = args.cwd.clone().unwrap_or_else(|| ".".into());
    let bridge = Bridge::new(BridgeSettings {
        guard,
        ledger: Arc::new(MemoryLedger::default()),
        key: SessionKey { principal: "local".into(), name: name.as_str().to_owned() },
        world: Arc::new(Disk::new(&cwd)),
        log: Arc::clone(log),
        noise,
    });
    bridge.announce(&bridge.guard(), "decides every call");
    Ok(Some((bridge, stamp)))
}

fn plug_in(args: &RunArgs, bridge: &Arc<Bridge>, stamp: Stamp, settings: &mut Settings) {
    settings.interceptor = bridge.clone();
    settings.tools = Some(Arc::new(Visible(Arc::clone(bridge))));
    // They hold while the policy in force enforces.
    settings.id_limits = Some(IdLimits::default());
    let file = args.policy.policy.clone().unwrap_or_default();
    let facts = args.policy.facts.clone();
    let to_start = Arc::clone(bridge);
    settings.started = Some(Arc::new(move |handle| {
        to_start.start(&handle);
        let (path, facts) = (file.clone(), facts.clone());
        let load = move || {
            let loaded = policy_file::load(&path, &facts).map_err(|why| why.to_string())?;
            Ok((loaded.policy, loaded.facts, loaded.warnings))
        };
        tokio::spawn(follow(Arc::clone(&to_start), (file.clone(), stamp), load));
    }));
}

fn server_command(args: &RunArgs, stderr: &Stderr) -> ServerCommand {
    let mut words = args.command.iter().cloned();
    let program = words.next().unwrap_or_default();
    let command =
        ServerCommand::new(program, words).cwd(args.cwd.clone()).stderr(stderr.clone()).with_warden();
    args.env.iter().fold(command, |command, (key, value)| command.env(key, value))
}

async fn run_session(command: ServerCommand, mut settings: Settings, log: &CallLog) -> Exit {
    // The server first: its start is what takes time.
    let (upstream, start_error) = match command.start() {
        Ok(upstream) => (upstream, None),
        Err(why) => {
            log.say(Level::Error, &why.to_string());
            settings.no_server = Some(format!("framegate could not start the MCP server: {why}"));
            // The client's first request is answered with the reason, so that it shows there.
            (Upstream::streams(tokio::io::empty(), tokio::io::sink()), Some(start_exit(&why)))
        }
    };
    let stdio = match Stdio::open() {
        Ok(stdio) => stdio,
        Err(why) => {
            log.say(Level::Error, &format!("stdin or stdout cannot be used: {why}"));
            return Exit::Broken;
        }
    };
    let session = Session::new(upstream, settings);
    if let Err(why) = pass_signals_on(&session.stopper()) {
        log.say(Level::Warn, &format!("signals are not passed on to the server: {why}"));
    }
    let outcome = session.run(stdio.input, stdio.output).await;
    drop(stdio.flags);
    if let Some(exit) = start_error {
        return exit;
    }
    report(&outcome, log);
    outcome.exit()
}

fn start_exit(why: &StartError) -> Exit {
    match why {
        StartError::Command(ResolveError::NotFound { .. }) => Exit::NotFound,
        StartError::Command(ResolveError::NotRunnable { .. })
        | StartError::Folder(_)
        | StartError::System(_) => Exit::CannotRun,
    }
}

fn report(outcome: &Outcome, log: &CallLog) {
    if let Err(why) = &outcome.end {
        log.say(Level::Error, &why.to_string());
    }
    match outcome.ended_for {
        Some(why @ EndedFor::Drain(_)) => log.say(Level::Warn, &format!("the server {why}")),
        Some(why) => log.say(Level::Info, &format!("the server {why}")),
        None => {}
    }
    if let Some(code) = outcome.server_code.filter(|code| *code != 0 && outcome.ended_itself) {
        log.say(Level::Warn, &format!("the server {}", how_it_ended(code)));
    }
}

fn pass_signals_on(stop: &Stop) -> io::Result<()> {
    for kind in [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind)?;
        let stop = stop.clone();
        let number = u8::try_from(kind.as_raw_value()).unwrap_or(15);
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                stop.stop(number);
            }
        });
    }
    Ok(())
}
