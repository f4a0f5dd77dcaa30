//! What a store's file is made of, word for word. A trigger, a view or a table that was made anew could let records
//! vanish that we believe written, or show others than those that are there.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::FORMAT;
use super::error::StoreError;

/// Tables and the index, by name.
pub(super) const SCHEMA: [(&str, &str); 4] = [
    (
        "records",
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT",
    ),
    (
        "texts",
        "CREATE TABLE texts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT",
    ),
    (
        "contents",
        "CREATE TABLE contents (seq INTEGER NOT NULL, field TEXT NOT NULL, salt BLOB NOT NULL, bytes BLOB, \
         text INTEGER, PRIMARY KEY (seq, field)) STRICT, WITHOUT ROWID",
    ),
    ("contents_text", "CREATE INDEX contents_text ON contents (text) WHERE text IS NOT NULL"),
];

/// What SQLite adds itself: the index of a `UNIQUE`, and what `ANALYZE` counts, which somebody may have run.
const OF_SQLITE: [(&str, &str); 3] = [
    ("sqlite_autoindex_texts_1", ""),
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// Nothing that a file brings along is run: a trigger could take back what was just written, a view could play a
/// table.
pub(super) fn distrust(connection: &Connection) -> Result<(), StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    Ok(connection.pragma_update(None, "trusted_schema", false)?)
}

/// A table, index, trigger or view that is not ours, or one of ours that is not there.
pub(super) fn foreign(connection: &Connection) -> Result<Option<String>, StoreError> {
    // Whatever was put there instead of text is not ours either.
    let mut select = connection.prepare(
        "SELECT CAST(coalesce(name, '') AS TEXT), CAST(coalesce(sql, '') AS TEXT) FROM sqlite_schema",
    )?;
    let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: Vec<(String, String)> = found.collect::<Result<_, _>>()?;
    let is_ours = |(name, sql): &&(String, String)| {
        let thing = (name.as_str(), sql.as_str());
        SCHEMA.contains(&thing) || OF_SQLITE.contains(&thing)
    };
    if let Some((name, _)) = found.iter().find(|thing| !is_ours(thing)) {
        return Ok(Some(format!("`{}` is not as this program makes it", name.escape_debug())));
    }
    let lost = SCHEMA.iter().find(|(name, _)| !found.iter().any(|(there, _)| there == name));
    Ok(lost.map(|(name, _)| format!("`{name}` is missing; format {FORMAT} has it")))
}

/// What counts the changes of a file's schema, whoever makes them.
pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?)
}

/// Refuses a file whose schema is not ours.
pub(super) fn demand(connection: &Connection) -> Result<(), StoreError> {
    match foreign(connection)? {
        None => Ok(()),
        Some(what) => Err(StoreError::Altered(what)),
    }
}
