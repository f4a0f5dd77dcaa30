//! `framegate pending`: what waits for an approval from a terminal, and what stands.

use std::path::PathBuf;

use serde_json::json;

use super::out::{Failure, Out};
use crate::approve::LOCAL;
use crate::args::{DeskArgs, PendingArgs};
use crate::desk::approver::{self, Approver};
use crate::desk::body::Body;
use crate::desk::file::{DeskFile, beside, now_ms};
use crate::desk::row::{Row, Stands};
use crate::desk::signed::{Scope, Standing};
use crate::exit::Exit;
use crate::history::line::{local, visible, visible_json};
use crate::store_path;

pub(crate) fn main(args: &PendingArgs) -> Exit {
    match print(args, &mut Out::stdout()) {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

pub(super) fn file(text: String) -> Failure {
    Failure { exit: Exit::File, text }
}

fn named(args: &DeskArgs) -> Option<&PathBuf> {
    args.store.as_ref().filter(|store| !store.as_os_str().is_empty() && store.as_os_str() != "none")
}

/// Where the questions lie.
pub(super) fn desk_path(args: &DeskArgs) -> Result<PathBuf, Failure> {
    let store = named(args).cloned().or_else(store_path::default_path);
    store.map(|store| beside(&store)).ok_or_else(|| {
        file("there is no home to look for a record in; name the file (--store FILE)".to_owned())
    })
}

/// A record that was named and is not there is a mistyped one: that nothing waits beside it says nothing.
fn is_there(args: &DeskArgs) -> Result<(), Failure> {
    match named(args) {
        Some(store) if !store.exists() && !beside(store).exists() => Err(file(format!(
            "there is no record `{}`, and no questions lie beside it; name the file that `framegate run --store` was given",
            store.display()
        ))),
        _ => Ok(()),
    }
}

fn print(args: &PendingArgs, out: &mut Out) -> Result<(), Failure> {
    let path = desk_path(&args.desk)?;
    let desk = DeskFile::open(&path).map_err(file)?;
    if desk.is_none() {
        is_there(&args.desk)?;
    }
    let lines = match &desk {
        None => Vec::new(),
        Some(desk) if args.standing => standing(desk, args)?,
        Some(desk) => {
            let rows = desk.open_questions().map_err(file)?;
            rows.iter().map(|row| if args.json { row_json(row) } else { row_text(row) }).collect()
        }
    };
    if lines.is_empty() && !args.json {
        let what = if args.standing { "no approval stands" } else { "no call waits" };
        super::out::say(&format!("{what} (`{}`)", path.display()));
    }
    let written = lines.iter().try_for_each(|line| out.line(line)).and_then(|()| out.flush());
    written.map_err(|why| Failure::stdout(&why))
}

/// Seconds until then.
fn left(until_ms: i64) -> i64 {
    (until_ms - now_ms()).max(0) / 1000
}

/// For people: its name first.
fn row_text(row: &Row) -> String {
    let stands = if row.is_gone() {
        "its session is gone".to_owned()
    } else {
        format!("{} s left", left(row.until_ms))
    };
    let asked = local(row.asked_ms.saturating_mul(1000));
    let head = format!("{}  {stands}, asked {asked} by process {}", row.id, row.pid);
    let text = Body::read(&row.body)
        .map_or_else(|| "this question cannot be read".to_owned(), |body| body.question().text());
    let lines = text.lines().map(|line| visible(format!("    {line}")).trim_end().to_owned());
    std::iter::once(visible(head)).chain(lines).collect::<Vec<_>>().join("\n") + "\n"
}

fn row_json(row: &Row) -> String {
    let question = Body::read(&row.body).map(|body| (body.question(), body));
    let line = match question {
        None => json!({ "id": row.id, "unreadable": true }),
        Some((question, body)) => json!({
            "id": row.id, "tool": body.tool, "server": body.session, "principal": body.principal,
            "arguments": question.arguments,
            "reasons": question.reasons, "unknown": question.unknown, "asked_ms": row.asked_ms,
            "until_ms": row.until_ms, "pid": row.pid, "session_gone": row.is_gone(), "approval_key": question.approval_key,
        }),
    };
    visible_json(&line.to_string())
}

fn standing(desk: &DeskFile, args: &PendingArgs) -> Result<Vec<String>, Failure> {
    let read = approver::path(args.approver.as_deref()).and_then(|path| Approver::read(&path));
    // Without one nothing counts, and that is said of each.
    let approver = read.map_err(file)?;
    let all = desk.standing(None).map_err(file)?;
    let one = |stands: &Stands| {
        let statement =
            approver.as_ref().and_then(|approver| Standing::read(&stands.signed, approver.public()));
        if args.json { stands_json(stands, statement) } else { stands_text(stands, statement) }
    };
    Ok(all.iter().map(one).collect())
}

fn stands_text(stands: &Stands, statement: Option<Standing>) -> String {
    let Some(statement) = statement else {
        return visible(format!("{}  counts for nothing: it is not signed by the approver", stands.id));
    };
    let what = match &statement.scope {
        Scope::Arguments { .. } => "the same arguments".to_owned(),
        Scope::Tool { rules } => format!("any arguments, while only {} asks", rules.join(", ")),
    };
    let note = if statement.note.is_empty() { String::new() } else { format!(" ({})", statement.note) };
    let of = match statement.principal.as_str() {
        LOCAL => String::new(),
        principal => format!(" for {principal}"),
    };
    visible(format!(
        "{}  {} of {}{of}, {what}, {} s left, by {}{note}",
        statement.id,
        statement.tool,
        statement.session,
        left(statement.until_ms),
        statement.by
    ))
}

fn stands_json(stands: &Stands, statement: Option<Standing>) -> String {
    let line = match statement.and_then(|statement| serde_json::to_value(statement).ok()) {
        None => json!({ "id": stands.id, "counts": false }),
        Some(mut line) => {
            if let Some(members) = line.as_object_mut() {
                members.insert("counts".into(), true.into());
            }
            line
        }
    };
    visible_json(&line.to_string())
}
