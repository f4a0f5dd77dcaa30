//! `framegate verify`: whether a record is whole.

mod fidelity;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use framegate_guard::store::StoreError;
use framegate_guard::store::chain::Hash;
use framegate_guard::store::fidelity::{Fidelity, Totals};
use framegate_guard::store::lines::Lines;
use framegate_guard::store::sqlite::Store;
use framegate_guard::store::verify::{EMPTY, Fault, KnownHead, NoWatch, Options, Report, Watch, verify};
use serde_json::json;

use super::out::{Failure, Out, store_failure};
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::history::line::{visible, visible_json};
use crate::{sign_key, store_path};

/// What every SQLite file begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

pub(crate) fn main(args: &VerifyArgs) -> Exit {
    match run(args) {
        Ok(true) => Exit::Clean,
        Ok(false) => Exit::Failed,
        Err(failure) => failure.said(),
    }
}

fn run(args: &VerifyArgs) -> Result<bool, Failure> {
    if let Some(path) = &args.new_key {
        let key = sign_key::make(path).map_err(|text| Failure { exit: Exit::File, text })?;
        let mut out = Out::stdout();
        out.line(&Hash(key.verifying_key().to_bytes()).to_string()).and_then(|()| out.flush())?;
        return Ok(true);
    }
    let path = place(args)?;
    let options = Options { head: args.head, key: args.key.map(|key| key.0) };
    let (report, totals) = if args.fidelity {
        let (report, totals) = look_with_fidelity(&path, options, args.json)?;
        (report, Some(totals))
    } else {
        (look(&path, options, &mut NoWatch)?, None)
    };
    let mut out = Out::stdout();
    let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
    if args.json {
        out.line(&visible_json(&as_json(&name, &report, totals).to_string()))?;
    } else {
        text(&name, &report, totals).iter().try_for_each(|line| out.line(line))?;
    }
    out.flush()?;
    Ok(report.is_whole())
}

impl From<io::Error> for Failure {
    /// Only stdout is written here.
    fn from(why: io::Error) -> Failure {
        Failure::stdout(&why)
    }
}

/// Writes each row as it comes: a record may have millions.
fn look_with_fidelity(path: &Path, options: Options, as_json: bool) -> Result<(Report, Totals), Failure> {
    let mut stdout = BufWriter::new(io::stdout());
    let mut written = Ok(());
    let mut watch = Fidelity::new(|found| {
        if let (Ok(()), Some(row)) = (&written, fidelity::row(&found, as_json)) {
            written = writeln!(stdout, "{row}");
        }
    });
    let report = look(path, options, &mut watch)?;
    let totals = watch.totals;
    drop(watch);
    written.and_then(|()| stdout.flush())?;
    Ok((report, totals))
}

fn place(args: &VerifyArgs) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.file {
        return Ok(path.clone());
    }
    store_path::to_read().map_err(|text| Failure { exit: Exit::File, text })
}

/// Verifies a file of either sort, or stdin.
fn look(path: &Path, options: Options, watch: &mut (dyn Watch + Send)) -> Result<Report, Failure> {
    if path == Path::new("-") {
        return Ok(verify(&mut Lines::new(io::stdin().lock()), options, watch));
    }
    let mut file = BufReader::with_capacity(1 << 16, Failure::open(path)?);
    if !is_store(&mut file) {
        return look_at_lines(path, file, options, watch);
    }
    let failed = |why: StoreError| cannot_verify(path, why);
    let reader = Store::open_read(path).map_err(failed)?;
    if reader.is_newer() {
        super::out::say(
            "warning: the store has a newer format than this program; update framegate if it seems broken",
        );
    }
    reader.verify(options, watch).map_err(failed)
}

/// A file that is damaged before any row of it is reached.
fn cannot_verify(path: &Path, why: StoreError) -> Failure {
    match why {
        // Its message sends people here.
        StoreError::Corrupt(what) | StoreError::Altered(what) => {
            let text = format!(
                "`{}`: broken so that no record of it can be read: {what}; keep the file, and start a new one",
                path.display()
            );
            Failure { exit: Exit::Data, text: visible(text) }
        }
        why => store_failure(path, &why),
    }
}

fn is_store(file: &mut BufReader<File>) -> bool {
    file.fill_buf().is_ok_and(|first| first.starts_with(SQLITE))
}

fn look_at_lines(
    path: &Path,
    mut file: BufReader<File>,
    options: Options,
    watch: &mut (dyn Watch + Send),
) -> Result<Report, Failure> {
    // Something else altogether is no broken record.
    let first = file.fill_buf().map_err(|why| Failure::read(&path.display().to_string(), &why))?;
    if !first.is_empty() && !first.starts_with(b"{") {
        let text = format!("`{}` is neither a store nor JSON lines of one", path.display());
        return Err(Failure { exit: Exit::File, text });
    }
    Ok(verify(&mut Lines::new(file.by_ref()), options, watch))
}

fn text(name: &str, report: &Report, totals: Option<Totals>) -> Vec<String> {
    let counts = report.counts;
    let mut lines = Vec::new();
    match report.faults.as_slice() {
        [] => lines.push(format!("{name}: whole")),
        [first] if first.what == EMPTY => lines.push(format!("{name}: {EMPTY}")),
        [first, others @ ..] => {
            lines.push(format!("{name}: broken"));
            lines.push(format!("  first broken: {first}"));
            lines.extend(others.iter().map(|fault| format!("  also: {fault}")));
            let more = report.faults_count.saturating_sub(others.len() as u64 + 1);
            lines.extend((more > 0).then(|| format!("  and {more} more")));
        }
    }
    lines.push(format!("  head {}", report.head));
    lines.push(format!("  records {}, sessions {}, calls {}", counts.records, counts.sessions, counts.calls));
    lines.push(format!(
        "  contents {}, removed on purpose {}, never kept {}, texts {}",
        counts.contents, counts.removed, counts.dropped, counts.texts
    ));
    if counts.signed > 0 {
        lines.push(format!("  signatures {}, the last of record {}", counts.signed, counts.signed_to));
    }
    if counts.waived > 0 {
        lines.push(format!("  calls that went out before they were on disk (bounded): {}", counts.waived));
    }
    if counts.unrecorded > 0 {
        lines.push(format!("  calls that went out and were never written: {}", counts.unrecorded));
    }
    if counts.unread > 0 {
        lines.push(format!("  frames sent that could not be read as calls: {}", counts.unread));
    }
    if counts.omitted > 0 {
        lines.push(format!(
            "  frames and ends of calls that were not written, too much waited: {}",
            counts.omitted
        ));
    }
    lines.extend(totals.map(|totals| fidelity::totals(&totals)));
    // Names of indexes and fields are whatever somebody wrote into the file.
    lines.into_iter().map(visible).collect()
}

fn as_json(name: &str, report: &Report, totals: Option<Totals>) -> serde_json::Value {
    let counts = report.counts;
    let fault = |fault: &Fault| json!({ "place": fault.place.to_string(), "what": fault.what });
    let mut all = json!({
        "file": name,
        "whole": report.is_whole(),
        "head": { "seq": report.head.sequence, "hash": report.head.hash.to_string() },
        "faults": report.faults.iter().map(fault).collect::<Vec<_>>(),
        "faults_count": report.faults_count,
        "records": counts.records,
        "sessions": counts.sessions,
        "calls": counts.calls,
        "contents": counts.contents,
        "removed": counts.removed,
        "never_kept": counts.dropped,
        "texts": counts.texts,
        "waived": counts.waived,
        "unrecorded": counts.unrecorded,
        "unread": counts.unread,
        "omitted": counts.omitted,
        "signatures": counts.signed,
        "signed_to": counts.signed_to,
    });
    if let (Some(totals), Some(members)) = (totals, all.as_object_mut()) {
        members.insert("fidelity".to_owned(), fidelity::totals_json(&totals));
    }
    all
}

/// For clap.
pub(crate) fn known_head(text: &str) -> Result<KnownHead, String> {
    text.parse().map_err(|why: framegate_guard::store::verify::NotAHead| why.to_string())
}

/// For clap.
pub(crate) fn public_key(text: &str) -> Result<Hash, String> {
    text.parse().map_err(|_| "expected a public key as `framegate verify --new-key` prints it".to_owned())
}

#[cfg(test)]
mod tests;
