//! The entries of windows, a row each: a step writes what it adds and removes what it forgets.

use framegate_guard::ledger::{Part, Rows};
use rusqlite::{Transaction, params};

use super::file::Failed;
use super::mirror::{About, STORE};

/// Those from this number on.
pub(super) fn read(
    step: &Transaction<'_>,
    about: &About,
    (is_stores, name): (bool, &str),
    from: u64,
) -> Result<Vec<(u64, String)>, Failed> {
    let mut select = step.prepare_cached(
        "SELECT number, entry FROM entries \
         WHERE session = ?1 AND principal = ?2 AND name = ?3 AND number >= ?4 ORDER BY number",
    )?;
    let of = params![session(about, is_stores), about.principal, name, from];
    let rows = select.query_map(of, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What became of those of a part.
pub(super) fn write(step: &Transaction<'_>, about: &About, part: &Part) -> Result<(), Failed> {
    let session = session(about, part.is_stores);
    let below = |number: i64| -> Result<(), Failed> {
        let delete =
            "DELETE FROM entries WHERE session = ?1 AND principal = ?2 AND name = ?3 AND number < ?4";
        let of = params![session, about.principal, part.name, number];
        step.prepare_cached(delete)?.execute(of)?;
        Ok(())
    };
    let added = match &part.rows {
        Rows::None => return Ok(()),
        Rows::All(rows) => {
            below(i64::MAX)?;
            rows
        }
        Rows::Changed { below: first, gone, added } => {
            below(i64::try_from(*first).unwrap_or(i64::MAX))?;
            let delete =
                "DELETE FROM entries WHERE session = ?1 AND principal = ?2 AND name = ?3 AND number = ?4";
            for number in gone {
                let of = params![session, about.principal, part.name, number];
                step.prepare_cached(delete)?.execute(of)?;
            }
            added
        }
    };
    let insert = "INSERT INTO entries (session, principal, name, number, entry) VALUES (?1, ?2, ?3, ?4, ?5)";
    for (number, entry) in added {
        let row = params![session, about.principal, part.name, number, entry];
        step.prepare_cached(insert)?.execute(row)?;
    }
    Ok(())
}

fn session(about: &About, is_stores: bool) -> i64 {
    if is_stores { STORE } else { about.session }
}
