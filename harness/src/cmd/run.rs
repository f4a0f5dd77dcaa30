//! `framegate run`: settings, server, session, exit code, in that order.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use framegate_guard::ledger::{Ledger, MemoryLedger, SessionKey};
use framegate_guard::praxiom::Dialect;
use framegate_guard::store::writer::SessionRecord;
use framegate_guard::{Facts, Guard};
use framegate_pump::IdLimits;

use crate::approve::{AskSettings, StateKey};
use crate::args::{Ask, Mode, Noise, RunArgs};
use crate::bridge::{Bridge, BridgeSettings, Disk, Outgoing, Visible, follow};
use crate::calls::{CallLog, Level};
use crate::child::{ServerCommand, ServerName, StartError, Upstream};
use crate::clip::clip;
use crate::desk::Desk;
use crate::exit::{Exit, how_it_ended};
use crate::foreign;
use crate::noise::DivertNoise;
use crate::policy_file::{self, Stamp};
use crate::program::{Launch, Programs, Say};
use crate::record::Recorder;
use crate::recorder::{Fidelity, SessionName, Sharing, StoreLedger, StoreSettings};
use crate::redact;
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
    if let Some(option) =
        args.command.first().and_then(|word| word.to_str()).filter(|word| word.starts_with('-'))
    {
        stderr.line(&format!("framegate: error: there is no option `{option}` of `run`; see framegate run --help. The server's command comes after `--`"));
        return Exit::Usage;
    }
    let command = server_command(&args, stderr);
    let name = args.name.as_deref().map_or_else(|| command.name(), ServerName::given);
    let log = CallLog::new(stderr.clone(), name.clone(), args.level(), args.format(color))
        .showing(args.log_arguments.into());
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
    let exit = match prepare(&args, &name, &log, noise, &mut settings) {
        Ok(kept) => {
            let exit = run_session(command, settings, &log).await;
            if let Some(Guarded { kept: Kept { ledger, desk }, bridge }) = kept {
                // A call that was cancelled in the last moment is still being judged, and its step is one of this session.
                bridge.settled().await;
                desk.finish();
                ledger.finish(&exit.to_string());
            }
            exit
        }
        Err((why, exit)) => refuse_all(&why, exit, settings, &log).await,
    };
    if let Some(recorder) = recorder {
        recorder.finish();
    }
    log.finish();
    exit
}

/// Puts the guard and the record in the frames' way, as far as there are any.
///
/// # Errors
/// Why there is none although there should be one, for the log and the client; and how to leave.
fn prepare(
    args: &RunArgs,
    name: &ServerName,
    log: &Arc<CallLog>,
    noise: Option<Stderr>,
    settings: &mut Settings,
) -> Result<Option<Guarded>, (String, Exit)> {
    let (guard, stamp) = guarded(args, name, log).map_err(|why| (why, Exit::Policy))?.unzip();
    let ignored =
        StoreSettings::without_effect(&args.store, guard.is_some()).map_err(|why| (why, Exit::Usage))?;
    ignored.iter().for_each(|warning| log.say(Level::Warn, warning));
    let session = shared_session(args, guard.is_some(), log).map_err(|why| (why, Exit::Usage))?;
    let key = session_key(name, session.as_ref());
    let kept = recording(args, guard.as_ref(), (&key, name), log).map_err(|why| (why, Exit::File))?;
    let asking = asking(args, guard.as_ref(), kept.as_ref(), log)?;
    let without_policy = guard.is_none();
    let guard = match (guard, &kept) {
        (Some(guard), _) => guard,
        (None, Some(_)) => no_policy(name).map_err(|why| (why, Exit::Policy))?,
        (None, None) => {
            if let Some(noise) = noise {
                settings.interceptor = Arc::new(DivertNoise(noise));
            }
            return Ok(None);
        }
    };
    let context = args.context.settings().map_err(|why| (why, Exit::File))?;
    if let (Some(file), Some(path)) = (&context.file, &args.context.context)
        && !file.is_there()
    {
        let path = path.display();
        log.say(
            Level::Warn,
            &format!("--context `{path}` is not there yet: until it is, what the user says is unknown"),
        );
    }
    let cwd = args.cwd.clone().unwrap_or_else(|| ".".into());
    let annotates = args.store.annotate && (without_policy || !guard.is_monitoring());
    let recorded = kept.as_ref().map(|kept| -> Arc<dyn Ledger> { kept.ledger.clone() });
    let ledger = recorded.unwrap_or_else(|| Arc::new(MemoryLedger::default()));
    let declared: Vec<_> = guard.policy().declared().collect();
    ledger.declare(guard.policy().name(), &declared).map_err(|why| (why, Exit::Policy))?;
    // Last: of a session that does not begin no program has run.
    let programs = programs(args, &guard, log).map_err(|why| (why, Exit::Policy))?;
    let bridge = Bridge::new(BridgeSettings {
        guard,
        ledger,
        key,
        world: Arc::new(Disk::new(&cwd)),
        log: Arc::clone(log),
        noise,
        without_policy,
        annotates,
        ask: asking,
        context,
        programs,
    });
    let bridge = bridge.map_err(|why| (why.to_string(), Exit::Broken))?;
    if !without_policy {
        bridge.announce(&bridge.guard(), "decides every call");
    }
    plug_in(args, &bridge, stamp, settings);
    if let Some(kept) = &kept {
        settings.observers.push(Arc::new(Fidelity::new(&kept.ledger)));
        settings.observers.push(Arc::new(Outgoing(Arc::clone(&bridge))));
    }
    Ok(kept.map(|kept| Guarded { kept, bridge }))
}

/// Who is asked, and what of it means nothing here.
///
/// # Errors
/// What was typed and cannot be done.
fn asking(
    args: &RunArgs,
    guard: Option<&Guard>,
    kept: Option<&Kept>,
    log: &CallLog,
) -> Result<AskSettings, (String, Exit)> {
    let desk = kept.map(|kept| &kept.desk);
    let state_key = match (&args.state_key, desk) {
        (None, _) => None,
        // Nothing asks; a variable may be meant for other servers.
        (Some(_), None) if guard.is_none() => None,
        (Some(_), None) => {
            let text = "--state-key needs a record that the processes share, so that an answer is used once: add --store FILE";
            return Err((text.into(), Exit::Usage));
        }
        (Some(file), Some(desk)) => {
            Some(StateKey::read(file, Arc::clone(desk)).map_err(|why| (why, Exit::File))?)
        }
    };
    if guard.is_some() && desk.is_none() && args.ask.0 == [Ask::Terminal] {
        let text = "--ask terminal needs a record, beside which the questions lie: add --store FILE";
        return Err((text.into(), Exit::Usage));
    }
    let wants_terminal = guard.is_some_and(|guard| guard.policy().approves_at_terminal());
    if wants_terminal && args.ask.0.contains(&Ask::Terminal) {
        let why_not = match desk {
            None => Some("it needs a record (--store FILE)"),
            Some(desk) => desk.without_approver(),
        };
        if let Some(why) = why_not {
            log.say(Level::Warn, &format!("nobody can approve from a terminal, as the policy wants: {why}"));
        }
    }
    Ok(AskSettings { state_key, ..args.asking(desk) })
}

/// A session of which a record is kept.
struct Guarded {
    kept: Kept,
    bridge: Arc<Bridge>,
}

/// A record that is kept, and the desk beside it.
struct Kept {
    ledger: Arc<StoreLedger>,
    desk: Arc<Desk>,
}

/// A session that is shared is called as it was said; otherwise each server has its own.
fn session_key(server: &ServerName, shared: Option<&SessionName>) -> SessionKey {
    let name = shared.map_or(server.as_str(), SessionName::as_str);
    SessionKey { principal: crate::approve::LOCAL.into(), name: name.to_owned() }
}

/// The session that is shared with other processes, if one is.
///
/// # Errors
/// When it cannot be one, or there is nothing to share.
fn shared_session(args: &RunArgs, has_policy: bool, log: &CallLog) -> Result<Option<SessionName>, String> {
    let Some(typed) = args.session.as_deref() else { return Ok(None) };
    let name = SessionName::of(typed)
        .map_err(|why| format!("`{}` cannot be the name of a session (--session): {why}", clip(typed)))?;
    if StoreSettings::is_kept(&args.store, has_policy) {
        return Ok(Some(name));
    }
    if has_policy || args.store.store.is_some() {
        let text = "--session needs a record, beside which the session is kept, and none is (--store none): add --store FILE, or leave --session out";
        return Err(text.into());
    }
    // No error: a variable may be meant for other servers.
    log.say(Level::Warn, "--session shares nothing: no record is kept (no policy and no --store)");
    Ok(None)
}

/// The record, if one is kept.
///
/// # Errors
/// Why it cannot be.
fn recording(
    args: &RunArgs,
    guard: Option<&Guard>,
    (key, name): (&SessionKey, &ServerName),
    log: &Arc<CallLog>,
) -> Result<Option<Kept>, String> {
    let monitors = guard.is_some_and(Guard::is_monitoring);
    let Some(store) = StoreSettings::of(&args.store, guard.is_some(), monitors)? else { return Ok(None) };
    let command: serde_json::Value = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let command = command.to_string();
    let given: Vec<&[u8]> = args.command.iter().map(|word| word.as_encoded_bytes()).collect();
    let about = SessionRecord {
        principal: key.principal.clone(),
        name: key.name.clone(),
        server: name.as_str().to_owned(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        durability: store.durability.name().to_owned(),
        flow_salt: [0; 16],
        command: String::from_utf8_lossy(&redact::bytes(command.as_bytes()).unwrap_or(command.into_bytes()))
            .into(),
        command_sha256: framegate_guard::store::entries::hash(&given.join(&0)),
    };
    let mut declared = guard.into_iter().flat_map(|guard| guard.policy().declared());
    let sharing = match args.session {
        Some(_) => Sharing::Session,
        None if declared.any(|variable| variable.is_stores) => Sharing::State,
        None => Sharing::Nothing,
    };
    let ledger = StoreLedger::open(&store, about, sharing, log)?;
    if sharing == Sharing::Session {
        log.say(Level::Info, &format!("the session `{}` is shared with others of this name", key.name));
        if store.keep.name() == "none" {
            let text = "--store-content none keeps no text: what this server says is unknown to the others of its session, and calls that depend on it ask";
            log.say(Level::Warn, text);
        }
    }
    log.say(Level::Info, &format!("decisions are recorded in `{}`", store.file.display()));
    let desk = Desk::beside(&store.file, args.approver.as_deref(), Arc::clone(log));
    Ok(Some(Kept { ledger: Arc::new(ledger), desk }))
}

/// What stands in for a policy where none was given and a record is kept: it judges nothing, and by its listing the
/// record says what each tool was, so that a policy that is written later can be tried on it.
fn no_policy(name: &ServerName) -> Result<Guard, String> {
    let text = b"framegate: 1\ndefault: allow\nmode: monitor\ndefaults: { arguments: unchecked }\n";
    let loaded =
        policy_file::parse("none", text, (Path::new(""), Dialect::Safe)).map_err(|why| why.to_string())?;
    Ok(Guard::new(loaded.policy, name.as_str(), Facts::default()))
}

/// No server is started. The client's first request is answered with the reason, so that it shows there: nobody
/// reads the log of a client that says "connection closed".
async fn refuse_all(why: &str, exit: Exit, mut settings: Settings, log: &CallLog) -> Exit {
    log.say_lines(Level::Error, why);
    log.without_server();
    settings.no_server = Some(format!("framegate did not start the MCP server: {why}"));
    if let Ok(stdio) = Stdio::open() {
        let session = Session::new(Upstream::streams(tokio::io::empty(), tokio::io::sink()), settings);
        let _ = session.run(stdio.input, stdio.output).await;
        drop(stdio.flags);
    }
    exit
}

/// The policy is loaded before the server starts and before a byte of the client's is read.
///
/// # Errors
/// Why there is no guard although there should be one; for the log and the client.
fn guarded(args: &RunArgs, name: &ServerName, log: &Arc<CallLog>) -> Result<Option<(Guard, Stamp)>, String> {
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
        if args.context.context.is_some() {
            // No error: a variable may be meant for other servers.
            log.say(Level::Warn, "--context is about a policy, and none was given: nobody reads it");
        }
        let text = "no policy: every call is passed on and logged, nothing is enforced (--policy FILE)";
        log.say(Level::Info, text);
        return Ok(None);
    };
    // Before it is read: what changes from now on is seen.
    let stamp = policy_file::stamp_to_keep(file);
    let dialect = args.policy.dialect.dialect();
    let loaded = policy_file::load(file, dialect, &args.policy.facts).map_err(|why| why.to_string())?;
    foreign::is_for_server(&loaded.policy, (name.as_str(), args.name.is_some()))?;
    if args.mode == Some(Mode::Enforce) && loaded.policy.mode() == framegate_guard::policy::Mode::Monitor {
        let text = "--mode enforce was given, and the policy says `mode: monitor`: change one of them";
        return Err(text.into());
    }
    loaded.warnings.iter().for_each(|warning| log.say_lines(Level::Warn, warning));
    if args.context.context.is_none() {
        loaded.policy.unheard_user().iter().for_each(|why| log.say_lines(Level::Warn, &why.to_string()));
    }
    let guard = Guard::new(loaded.policy, name.as_str(), loaded.facts);
    Ok(Some((guard.monitoring(args.mode == Some(Mode::Monitor)), stamp)))
}

/// The programs that the policy asks, started: a policy that cannot ask them is one that cannot be used.
///
/// # Errors
/// Which of them cannot be.
fn programs(args: &RunArgs, guard: &Guard, log: &Arc<CallLog>) -> Result<Programs, String> {
    let folder = args.policy.policy.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let said = Arc::clone(log);
    let say: Say = Arc::new(move |text: &str| said.say(Level::Warn, text));
    let launch = Launch::new(folder, log.stderr(), say).with_warden();
    let programs = Programs::start(launch, guard.policy()).map_err(|why| why.to_string())?;
    for (program, by) in guard.policy().programs_asked() {
        log.say(Level::Info, &format!("the program `{program}` is asked for {}", by.join(", ")));
    }
    Ok(programs)
}

fn plug_in(args: &RunArgs, bridge: &Arc<Bridge>, stamp: Option<Stamp>, settings: &mut Settings) {
    settings.interceptor = bridge.clone();
    settings.tools = Some(Arc::new(Visible(Arc::clone(bridge))));
    // They hold while the policy in force enforces.
    settings.id_limits = Some(IdLimits::default());
    let file = args.policy.policy.clone().unwrap_or_default();
    let (facts, dialect) = (args.policy.facts.clone(), args.policy.dialect.dialect());
    let to_start = Arc::clone(bridge);
    settings.started = Some(Arc::new(move |handle| {
        to_start.start(&handle);
        let Some(stamp) = stamp else { return };
        let (path, facts) = (file.clone(), facts.clone());
        let load = move || {
            let loaded = policy_file::load(&path, dialect, &facts).map_err(|why| why.to_string())?;
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
            log.without_server();
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
