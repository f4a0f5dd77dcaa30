//! What came after one call's record: what people said of it, the decision made anew, how it ended.

use framegate_guard::store::StoreError;
use framegate_guard::store::read::{Record, Row};

use super::call::RowKind;
use super::file::RecordFile;
use super::reply::Replies;

/// What came after a call.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// About this call, not about the one before it.
    pub(crate) replies: Vec<Record>,
    /// The same call, decided anew.
    pub(crate) again: Option<Record>,
    /// Its last end.
    pub(crate) end: Option<Record>,
}

impl After {
    /// Reads on behind the call until nothing more can come of it.
    pub(crate) fn of(file: &RecordFile, call: &Record) -> Result<After, StoreError> {
        let (mut after, mut replies) = (After::default(), Replies::default());
        let (seq, session) = (call.seq(), call.count("session"));
        for row in file.from(seq.saturating_add(1)) {
            let row = row?;
            match RowKind::of(&row) {
                RowKind::Approval => {
                    names(&row, "call", seq)?.into_iter().for_each(|reply| replies.add(reply))
                }
                RowKind::Call => after.again = names(&row, "again", seq)?.or(after.again),
                RowKind::End => after.end = names(&row, "call", seq)?.or(after.end),
                RowKind::Close if row.record()?.count("session") == session => break,
                _ => {}
            }
            if after.is_whole() {
                break;
            }
        }
        after.replies = replies.of(call);
        Ok(after)
    }

    /// A call that a person is asked about by its answer has its reply only when its client comes again.
    fn is_whole(&self) -> bool {
        self.end.as_ref().is_some_and(|end| match end.text("how") {
            Some("task") => false,
            Some("asked") => self.again.is_some(),
            _ => true,
        })
    }
}

/// The record, if it is about this one. Most are not, and are not read as JSON.
fn names(row: &Row, key: &str, seq: u64) -> Result<Option<Record>, StoreError> {
    // In a string the quotes would be escaped.
    if !row.body.contains(&format!("\"{key}\":{seq},")) {
        return Ok(None);
    }
    Ok(Some(row.record()?).filter(|record| record.count(key) == Some(seq)))
}
