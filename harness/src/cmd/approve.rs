//! `framegate approve`, `deny` and `revoke`.

use std::path::Path;
use std::time::{Duration, Instant};

use ed25519_dalek::SigningKey;

use super::approver::{failed, not, terminal, untyped};
use super::out::{Failure, say};
use super::pending::{desk_path, file};
use crate::args::{ApproveArgs, DenyArgs, RevokeArgs};
use crate::desk::approver::{self, Approver};
use crate::desk::body::Body;
use crate::desk::file::{DeskFile, now_ms, short_id};
use crate::desk::row::{Answer, Row, Stands, State};
use crate::desk::signed::{Approval, Scope, Standing};
use crate::exit::Exit;
use crate::history::line::{local, visible};
use crate::tty::Tty;

/// How often a passphrase may be mistyped.
const TRIES: u32 = 3;
/// How long whoever asked may take to see the answer.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Characters of a note or a reason.
const NOTE_CHARS_MAX: usize = 1000;

pub(crate) fn approve(args: &ApproveArgs) -> Exit {
    ended(approved(args))
}

pub(crate) fn deny(args: &DenyArgs) -> Exit {
    ended(denied(args))
}

pub(crate) fn revoke(args: &RevokeArgs) -> Exit {
    let revoked = desk_path(&args.desk).and_then(|path| {
        let desk = DeskFile::open(&path).map_err(file)?;
        let is_ended = desk.map_or(Ok(false), |mut desk| desk.revoke(&args.id)).map_err(file)?;
        if is_ended {
            Ok(format!("{} stands no longer", args.id))
        } else {
            Err(not(&format!(
                "no approval `{}` stands; `framegate pending --standing` shows those that do",
                args.id
            )))
        }
    });
    ended(revoked)
}

fn ended(done: Result<String, Failure>) -> Exit {
    match done {
        Ok(text) => {
            say(&text);
            Exit::Clean
        }
        Err(failure) => failure.said(),
    }
}

fn approved(args: &ApproveArgs) -> Result<String, Failure> {
    short(&args.note)?;
    let (mut desk, row) = question(&desk_path(&args.desk)?, &args.id)?;
    let path = approver::path(args.approver.as_deref()).map_err(file)?;
    let approver = Approver::read(&path).map_err(file)?.ok_or_else(|| none_at(&path))?;
    let body =
        Body::read(&row.body).ok_or_else(|| not("this question cannot be read, so it cannot be approved"))?;
    let scope = args.standing.map(|time| Scope::of(&body, args.any_arguments).map(|scope| (scope, time)));
    let scope = scope.transpose().map_err(|why| not(&why))?;
    let mut tty = terminal()?;
    tty.say(&shown(&body, scope.as_ref())).map_err(|why| failed(&why))?;
    let key = signing_key(&mut tty, &approver)?;
    let (at_ms, who) = (now_ms(), user());
    let approval = Approval {
        desk: desk.id.clone(),
        question: Body::digest(&row.body),
        by: who.clone(),
        note: args.note.clone(),
        at_ms,
    };
    let signed = Some(approval.sign(&key).map_err(|why| not(&why))?);
    let answer = Answer { state: State::Approved, who, note: args.note.clone(), at_ms, signed };
    let stands = scope.map(|scope| stands(&desk, &body, &answer, scope, &key)).transpose()?;
    resolve(&mut desk, &row.id, &answer, stands.as_ref())?;
    Ok(match stands {
        None => "approved: the call goes on, if nothing else stands against it by now".to_owned(),
        Some(stands) => format!(
            "approved: the call goes on, if nothing else stands against it by now; {} stands until {} (framegate revoke {0} ends it)",
            stands.id,
            local(stands.until_ms.saturating_mul(1000))
        ),
    })
}

fn denied(args: &DenyArgs) -> Result<String, Failure> {
    short(&args.reason)?;
    let (mut desk, row) = question(&desk_path(&args.desk)?, &args.id)?;
    let (note, at_ms) = (args.reason.clone(), now_ms());
    let answer = Answer { state: State::Denied, who: user(), note, at_ms, signed: None };
    resolve(&mut desk, &row.id, &answer, None)?;
    Ok("denied: the call was refused".to_owned())
}

fn short(note: &str) -> Result<(), Failure> {
    if note.chars().count() <= NOTE_CHARS_MAX {
        return Ok(());
    }
    let text = format!("at most {NOTE_CHARS_MAX} characters can be said to it");
    Err(Failure { exit: Exit::Usage, text })
}

/// The question, if it can still be answered.
fn question(path: &Path, id: &str) -> Result<(DeskFile, Row), Failure> {
    let unknown = || {
        not(&format!(
            "there is no call `{id}` that waits (`{}`); `framegate pending` shows those that do",
            path.display()
        ))
    };
    let desk = DeskFile::open(path).map_err(file)?.ok_or_else(unknown)?;
    let row = desk.question(id).map_err(file)?.ok_or_else(unknown)?;
    open(&row)?;
    Ok((desk, row))
}

/// # Errors
/// Why it cannot be answered any more.
fn open(row: &Row) -> Result<(), Failure> {
    let at = local(row.at_ms.saturating_mul(1000));
    let text = match row.state {
        State::Open if now_ms() < row.until_ms && row.is_gone() => {
            format!("nobody waits for {}: its session is gone (process {})", row.id, row.pid)
        }
        State::Open if now_ms() < row.until_ms => return Ok(()),
        State::Approved | State::Denied => {
            let what = row.state.name();
            format!("{} was already resolved: {what} by {} at {at}", row.id, row.who)
        }
        State::Withdrawn => format!(
            "too late: {} was withdrawn at {at}; its call was cancelled, or its session ended",
            row.id
        ),
        State::Late | State::Open => {
            let until = local(row.until_ms.saturating_mul(1000));
            format!("too late: the time for {} was over at {until}, and its call was refused", row.id)
        }
    };
    Err(not(&visible(text)))
}

/// Writes the answer, and waits until whoever asked has it. One that nobody takes is taken back.
fn resolve(desk: &mut DeskFile, id: &str, answer: &Answer, stands: Option<&Stands>) -> Result<(), Failure> {
    let gone = || not("too late: the question is gone");
    let is_first = desk.answer(id, answer, stands).map_err(file)?;
    let row = desk.question(id).map_err(file)?.ok_or_else(gone)?;
    if !is_first {
        open(&row)?;
        return Err(gone());
    }
    let since = Instant::now();
    let mut why = Err(gone());
    while since.elapsed() < TAKEN_WITHIN {
        let row = desk.question(id).map_err(file)?.ok_or_else(gone)?;
        match row.state {
            state if state == answer.state && row.is_taken => return Ok(()),
            state if state == answer.state => {}
            State::Open => {
                // It stays open, for whom the session does know.
                if let Some(stands) = stands {
                    desk.revoke(&stands.id).map_err(file)?;
                }
                return Err(not(
                    "the session that asked does not take this approver's word, since it started with another one; the question stays open",
                ));
            }
            _ => {
                why = open(&row);
                break;
            }
        }
        std::thread::sleep(LOOK_EVERY);
        why = Err(not("nobody waits for this answer any more: the session that asked is gone"));
    }
    desk.close(id, State::Withdrawn).map_err(file)?;
    if let Some(stands) = stands {
        desk.revoke(&stands.id).map_err(file)?;
    }
    why.and(Err(gone()))
}

fn stands(
    desk: &DeskFile,
    body: &Body,
    answer: &Answer,
    (scope, time): (Scope, Duration),
    key: &SigningKey,
) -> Result<Stands, Failure> {
    let until_ms = answer.at_ms.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
    let statement = Standing {
        desk: desk.id.clone(),
        id: short_id().map_err(|text| Failure { exit: Exit::Broken, text })?,
        principal: body.principal.clone(),
        session: body.session.clone(),
        policy: body.policy.clone(),
        tool: body.tool.clone(),
        scope,
        by: answer.who.clone(),
        note: answer.note.clone(),
        from_ms: answer.at_ms,
        until_ms,
    };
    let signed = statement.sign(key).map_err(|why| not(&why))?;
    Ok(Stands { id: statement.id, tool: statement.tool, until_ms, signed })
}

/// All that is signed, as a person reads it.
fn shown(body: &Body, scope: Option<&(Scope, Duration)>) -> String {
    let text: Vec<String> = body.question().text().lines().map(|line| visible(line.to_owned())).collect();
    let text = text.join("\n");
    let Some((scope, time)) = scope else { return text + "\n\n" };
    let time = humantime::format_duration(*time);
    let what = match scope {
        Scope::Arguments { .. } => "the same call (same tool, arguments and reasons)".to_owned(),
        Scope::Tool { rules } => {
            let rules = rules.join(", ");
            format!("EVERY call of this tool, whatever its arguments, that only {rules} asks about")
        }
    };
    let also =
        visible(format!("A yes is for this call, and for {time}, without another question, for {what}."));
    // In the place of the line that says: for this one.
    let (before, _) = text.rsplit_once('\n').unwrap_or((&text, ""));
    format!("{before}\n{also}\n\n")
}

fn signing_key(tty: &mut Tty, approver: &Approver) -> Result<SigningKey, Failure> {
    for _ in 0..TRIES {
        let passphrase = tty.secret("Passphrase, to approve (Ctrl-C: not): ").map_err(|why| untyped(&why))?;
        if passphrase.is_empty() {
            return Err(not("nothing was done"));
        }
        if let Some(key) = approver.key(&passphrase).map_err(|why| not(&why))? {
            return Ok(key);
        }
        tty.say("That is not the passphrase.\n").map_err(|why| failed(&why))?;
    }
    Err(not("that was not the approver's passphrase; nothing was done"))
}

fn none_at(path: &Path) -> Failure {
    file(format!("there is no approver's file `{}`; `framegate approver init` makes one", path.display()))
}

/// As the record names whoever answered: what the system says, for the passphrase says who it was.
fn user() -> String {
    let uid = rustix::process::getuid().as_raw();
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty() && name.len() <= 64);
    name.map_or_else(|| format!("uid {uid}"), |name| format!("{name} (uid {uid})"))
}
