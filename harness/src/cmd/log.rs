//! `framegate log`: the recorded calls.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use framegate_guard::store::retrace::{Retracer, Source as _};
use framegate_guard::store::{StoreError, lines};

use super::out::{Failure, Out, say, store_failure};
use crate::args::LogArgs;
use crate::exit::Exit;
use crate::history::call::{Backwards, Forwards, RecordedCall, RowKind, time_of};
use crate::history::choice::Choice;
use crate::history::file::{RecordFile, Rows};
use crate::history::line::{Line, Whole, table};
use crate::store_path;

/// Records in a row that are older than what is asked for: then there is nothing newer before them. One alone says
/// little: a clock that is set back makes the records of a while older than those before.
const OLDER_MAX: usize = 10_000;
/// Records before a page that are looked through for what people said of calls on it.
const BEFORE_MAX: usize = 10_000;
/// How often a followed record is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) fn main(args: &LogArgs) -> Exit {
    match print(args, &mut Out::stdout()) {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

/// The file that was named, or the one that `run` writes.
pub(crate) fn record_file(typed: Option<&PathBuf>) -> Result<(RecordFile, PathBuf), Failure> {
    let path = match typed {
        Some(path) => path.clone(),
        None => store_path::to_read().map_err(|text| Failure { exit: Exit::File, text })?,
    };
    let file = RecordFile::open(&path).map_err(|why| store_failure(&path, &why))?;
    Ok((file, path))
}

fn print(args: &LogArgs, out: &mut Out) -> Result<(), Failure> {
    let choice = Choice::of(&args.choice).map_err(|text| Failure { exit: Exit::Usage, text })?;
    let (file, path) = record_file(args.file.as_ref())?;
    let failure = |why: StoreError| store_failure(&path, &why);
    if args.all {
        return chain(&file, out, &failure);
    }
    let page = Page { file: &file, choice, args };
    // What comes after this is not looked at now, or an end that is written meanwhile would be missed.
    let head = file.last().map_err(failure)?;
    let (calls, mut open) = page.last(head).map_err(failure)?;
    let is_nothing = calls.is_empty() && !args.json;
    page.write(calls, out, &failure)?;
    if !args.follow {
        // A rule's name that was misspelt looks like a rule that never decided anything.
        if is_nothing {
            say(&format!("no recorded call matches (`{}`)", path.display()));
        }
        return Ok(());
    }
    let RecordFile::Database(_) = &file else {
        let text = "only a store's database can be followed; JSON lines do not grow".to_owned();
        return Err(Failure { exit: Exit::Usage, text });
    };
    let mut next = head + 1;
    loop {
        thread::sleep(LOOK_EVERY);
        let mut calls = Vec::new();
        for row in file.from(next) {
            let row = row.map_err(failure)?;
            next = row.seq + 1;
            calls.extend(open.row(&row).map_err(failure)?);
        }
        let calls = page.chosen(calls).map_err(failure)?;
        page.write(calls, out, &failure)?;
    }
}

/// Each record with its contents.
fn chain(file: &RecordFile, out: &mut Out, failure: &dyn Fn(StoreError) -> Failure) -> Result<(), Failure> {
    for row in file.from(0) {
        let row = row.map_err(failure)?;
        let contents = file.contents(row.seq).map_err(failure)?;
        out.line(&lines::line(&row, &contents)).map_err(|why| Failure::stdout(&why))?;
    }
    out.flush().map_err(|why| Failure::stdout(&why))
}

/// What people said of a call stands before its decision anew, perhaps before the page.
fn first_replies(found: &mut [RecordedCall], seen: &mut Backwards, rows: Rows<'_>) -> Result<(), StoreError> {
    let Some(first) = found.iter().filter_map(RecordedCall::again).min() else { return Ok(()) };
    for row in rows.take(BEFORE_MAX) {
        let row = row?;
        if row.seq < first {
            break;
        }
        if RowKind::of(&row) == RowKind::Approval {
            seen.row(&row)?;
        }
    }
    for call in found.iter_mut().filter(|call| call.again().is_some()) {
        call.replies = seen.replies.of(&call.record);
    }
    Ok(())
}

struct Page<'a> {
    file: &'a RecordFile,
    choice: Choice,
    args: &'a LogArgs,
}

impl Page<'_> {
    /// The last calls that are wanted, oldest first. Read from the end, and no further than it takes. Followed, the
    /// calls that have not ended are told when they do.
    fn last(&self, head: u64) -> Result<(Vec<RecordedCall>, Forwards), StoreError> {
        let mut retracer = Retracer::new(self.file);
        let (mut seen, mut found, mut open) = (Backwards::default(), Vec::new(), Vec::new());
        let mut rows = self.file.back(head);
        let mut older = 0;
        for row in rows.by_ref() {
            let row = row?;
            let is_older = self.choice.since.zip(time_of(&row)).is_some_and(|(since, time)| time < since);
            older = if is_older { older + 1 } else { 0 };
            if older > OLDER_MAX {
                break;
            }
            let Some(call) = seen.row(&row)? else { continue };
            if !self.is_chosen(&call, &mut retracer)? {
                continue;
            }
            match &call.end {
                None if self.args.follow && call.is_call() => open.push(call),
                _ => found.push(call),
            }
            if self.args.count != 0 && found.len() == self.args.count {
                break;
            }
        }
        found.reverse();
        first_replies(&mut found, &mut seen, rows)?;
        Ok((found, Forwards::after(open, seen.replies)))
    }

    fn is_chosen(
        &self,
        call: &RecordedCall,
        retracer: &mut Retracer<'_, RecordFile>,
    ) -> Result<bool, StoreError> {
        let session = retracer.session(&call.record)?.unwrap_or_default();
        Ok(self.choice.takes(call, &session))
    }

    fn chosen(&self, calls: Vec<RecordedCall>) -> Result<Vec<RecordedCall>, StoreError> {
        let mut retracer = Retracer::new(self.file);
        let mut chosen = Vec::with_capacity(calls.len());
        for call in calls {
            if self.is_chosen(&call, &mut retracer)? {
                chosen.push(call);
            }
        }
        Ok(chosen)
    }

    fn write(
        &self,
        calls: Vec<RecordedCall>,
        out: &mut Out,
        failure: &dyn Fn(StoreError) -> Failure,
    ) -> Result<(), Failure> {
        let mut retracer = Retracer::new(self.file);
        let what = self.args.arguments.into();
        let mut lines = Vec::with_capacity(calls.len());
        let mut written = Ok(());
        for call in calls {
            if self.args.json {
                let line = Whole::of(call, &mut retracer, what).map_err(failure)?.json();
                written = written.and_then(|()| out.line(&line));
            } else {
                lines.push(Line::of(call, &mut retracer, what).map_err(failure)?);
            }
        }
        let written = match self.args.follow {
            _ if lines.is_empty() => written,
            true => lines.iter().try_for_each(|line| out.line(&line.row())),
            false => table(&lines).lines().try_for_each(|line| out.line(line.trim_end())),
        };
        written.and_then(|()| out.flush()).map_err(|why| Failure::stdout(&why))
    }
}
