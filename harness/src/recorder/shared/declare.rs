//! Policies of one session declare their variables alike, or one would read what the other never wrote.

use std::collections::BTreeSet;

use framegate_guard::ledger::Declared;
use rusqlite::{Transaction, params};

use super::SharedPast;
use super::core::Core;
use super::file::Failed;
use super::lease;
use super::mirror::STORE;
use crate::clip::clip;

/// How long it waits for other processes; a session begins with it, or a policy comes anew.
const WAIT: std::time::Duration = std::time::Duration::from_secs(5);

impl SharedPast {
    /// Says which variables the policy here declares, in the place of those it declared before.
    ///
    /// # Errors
    /// For people: another policy of the session declares one of them otherwise, or that cannot be known.
    pub(crate) fn declare(&self, policy: &str, variables: &[Declared]) -> Result<(), String> {
        let core = &*self.core;
        let mut held = core.held();
        let path = held.file.path.clone();
        let done = core.turn(&mut held, WAIT, |turn| {
            let is_gone = |number| lease::is_gone(&path, number);
            for variable in variables {
                if let Some(why) = conflict(&turn.step, core, (policy, variable), &is_gone)? {
                    return Ok(Err(why));
                }
            }
            turn.writes = true;
            turn.step.execute("DELETE FROM declared WHERE lease = ?1", [core.about.lease])?;
            variables.iter().try_for_each(|variable| insert(&turn.step, core, policy, variable))?;
            Ok(Ok(()))
        });
        done.map_err(|why| core.failure(why).0)??;
        let stores = variables.iter().filter(|variable| variable.is_stores);
        let stores: BTreeSet<String> = stores.map(|variable| variable.name.clone()).collect();
        held.mirror.set_stores(stores);
        Ok(())
    }
}

/// Why a variable cannot be declared like this, if it cannot.
fn conflict(
    step: &Transaction<'_>,
    core: &Core,
    (policy, variable): (&str, &Declared),
    is_gone: &dyn Fn(u64) -> bool,
) -> Result<Option<String>, Failed> {
    let about = &core.about;
    let mut select = step.prepare_cached(
        "SELECT lease, says, policy FROM declared \
         WHERE principal = ?1 AND session IN (?2, ?3) AND name = ?4 AND lease <> ?5 AND says <> ?6",
    )?;
    let like = params![about.principal, STORE, about.session, variable.name, about.lease, variable.says];
    let mut rows = select.query(like)?;
    while let Some(row) = rows.next()? {
        // What a process declared that is gone binds nobody.
        if is_gone(row.get(0)?) {
            continue;
        }
        let (says, other): (String, String) = (row.get(1)?, row.get(2)?);
        let Declared { name, says: own, .. } = variable;
        return Ok(Some(format!(
            "the state variable `{}` is declared in two ways by policies that share it: in `{}` as {own}, in `{}` as {says}. Declare it alike in both, or call one of them otherwise",
            clip(name),
            clip(policy),
            clip(&other)
        )));
    }
    Ok(None)
}

fn insert(step: &Transaction<'_>, core: &Core, policy: &str, variable: &Declared) -> Result<(), Failed> {
    let about = &core.about;
    let insert = "INSERT OR REPLACE INTO declared (principal, session, name, lease, says, policy) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let session = if variable.is_stores { STORE } else { about.session };
    let row = params![about.principal, session, variable.name, about.lease, variable.says, policy];
    step.prepare_cached(insert)?.execute(row)?;
    Ok(())
}
