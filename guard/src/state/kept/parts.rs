//! What is kept, part by part, for a store that several processes share: each variable by itself, with the step that
//! gave it its value, and of each call under way what it may still do.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::super::spell::{belief, shown, spelled};
use super::super::window::Head;
use super::super::{Combine, Kind, Scope, Unreadable, Value, Variable};
use super::{Belief, Changed, Effects, Held, Kept, Open, add, lost_of};
use crate::ledger::{Declared, Rows, Settled};
use crate::world::Instant;

/// Bytes of a window whose entries are rows: a few numbers.
const HEAD_BYTES_MAX: usize = 1024;

/// A call of another process that is under way: what the variables of its `after` hold where no answer comes.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    after: Vec<(Arc<Variable>, Belief)>,
    /// When it was decided.
    at: Option<Instant>,
}

impl Kept {
    /// A variable as a store keeps it; nothing where it holds what its policy says at first. And what becomes of its
    /// rows: a window of ten thousand entries is not written anew for one more.
    pub(crate) fn part(&mut self, Variable { name, scope, .. }: &Variable) -> (Option<String>, Rows) {
        let filed = self.filed.remove(name).filter(|(of, _)| of == scope).map(|(_, filed)| filed);
        let held = self.values.get(name);
        if let Some(Held { belief: Belief::Known(Value::Window(window)), writer }) = held {
            self.filed.insert(Arc::clone(name), (*scope, window.filed()));
            let text = json!({ "by": writer, "rows": window.head().spelled() }).to_string();
            return (Some(text), window.rows(filed));
        }
        let text = held.map(|held| json!({ "by": held.writer, "is": spelled(&held.belief) }).to_string());
        (text, filed.map_or(Rows::None, |_| Rows::All(Vec::new())))
    }

    /// The same, of which no store has any rows: its parts are whole.
    pub(crate) fn unfiled(self) -> Kept {
        Kept { filed: std::collections::BTreeMap::new(), ..self }
    }

    /// The first of the rows to be read for what another process wrote; nothing where it has none.
    pub(crate) fn rows_from(
        &self,
        (name, scope): (&str, Scope),
        text: Option<&str>,
    ) -> Result<Option<u64>, Unreadable> {
        // What is longer has none, and is not read twice.
        let Some(text) = text.filter(|text| text.len() <= HEAD_BYTES_MAX) else { return Ok(None) };
        let read: Json = serde_json::from_str(text).map_err(|why| Unreadable(why.to_string()))?;
        let Some(rows) = read.get("rows") else { return Ok(None) };
        let head = Head::read(rows).ok_or_else(|| Unreadable(format!("`{name}` has no value")))?;
        let filed = self.filed.get(name).filter(|(of, _)| *of == scope);
        Ok(Some(head.from(filed.map(|(_, filed)| *filed))))
    }

    /// Takes over what another process wrote. `rows`: from the first one on that was to be read.
    pub(crate) fn set_part(
        &mut self,
        (name, scope): (&str, Scope),
        text: Option<&str>,
        rows: &[(u64, String)],
    ) -> Result<(), Unreadable> {
        let filed = self.filed.remove(name).filter(|(of, _)| *of == scope).map(|(_, filed)| filed);
        let before = self.values.remove(name);
        let Some(text) = text else { return Ok(()) };
        let read: Json = serde_json::from_str(text).map_err(|why| Unreadable(why.to_string()))?;
        let held = || {
            let writer = read.get("by")?.as_u64()?;
            // As a version before wrote it, all in one: the next change makes rows of it.
            let Some(head) = read.get("rows") else {
                return Some(Held { belief: belief(read.get("is")?)?, writer });
            };
            let head = Head::read(head)?;
            let is_new = head.from(filed) == 0;
            let mut window = match before.map(|held| held.belief) {
                Some(Belief::Known(Value::Window(window))) if !is_new => window,
                _ => Arc::default(),
            };
            Arc::make_mut(&mut window).follow(&head, is_new, rows)?;
            self.filed.insert(name.into(), (scope, window.filed()));
            Some(Held { belief: Belief::Known(Value::Window(window)), writer })
        };
        let held = held().ok_or_else(|| Unreadable(format!("`{name}` has no value")))?;
        self.values.insert(name.into(), held);
        Ok(())
    }

    /// A call of this process is under way still, after all was read anew. What it changed at once is not taken back
    /// any more: nobody knows what was there before.
    pub(crate) fn open_again(&mut self, step: u64, effects: &Arc<Effects>) {
        for after in &effects.after {
            self.pend(&after.variable.name, step, &effects.tool);
        }
        self.open.insert(step, Open { effects: Arc::clone(effects), before: Vec::new() });
    }

    /// Another process has a call under way.
    pub(crate) fn open_elsewhere(&mut self, step: u64, flight: &str) -> Result<(), Unreadable> {
        let read: Json = serde_json::from_str(flight).map_err(|why| Unreadable(why.to_string()))?;
        let after = || {
            let at = read.get("at").map(|at| at.as_i64().map(Instant));
            let after = read.get("after")?.as_array()?.iter();
            let after = after.map(|one| Some((Arc::new(variable(one)?), belief(one.get("lost")?)?)));
            let tool = Arc::<str>::from(read.get("tool")?.as_str()?);
            let flight = Flight { after: after.collect::<Option<_>>()?, at: at.flatten() };
            Some((tool, flight))
        };
        let (tool, flight) = after().ok_or_else(|| Unreadable("a call under way".to_owned()))?;
        for (variable, _) in &flight.after {
            self.pend(&variable.name, step, &tool);
        }
        self.elsewhere.insert(step, flight);
        Ok(())
    }

    /// It has ended; what came of it stands in the parts.
    pub(crate) fn ended_elsewhere(&mut self, step: u64) {
        let Some(flight) = self.elsewhere.remove(&step) else { return };
        flight.after.iter().for_each(|(variable, _)| self.pend_no_more(&variable.name, step));
    }

    /// Its process is gone: the worst is so. The variables that this changed.
    pub(crate) fn lose(&mut self, step: u64) -> Vec<Arc<Variable>> {
        let Some(flight) = self.elsewhere.remove(&step) else { return Vec::new() };
        let mut changes = Vec::new();
        for (variable, lost) in flight.after {
            self.pend_no_more(&variable.name, step);
            add(&mut changes, Changed::of(&variable, lost, flight.at, false));
        }
        for changed in &changes {
            let _ = self.write(changed, step);
        }
        changes.into_iter().map(|changed| changed.variable).collect()
    }
}

impl Effects {
    /// The variables that the call changes, now or with its answer, each once.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &Arc<Variable>> {
        let mut told = BTreeSet::new();
        let changed = self.changed.iter().map(|changed| &changed.variable);
        let all = changed.chain(self.after.iter().map(|after| &after.variable));
        all.filter(move |variable| told.insert(Arc::clone(&variable.name)))
    }

    /// Those of them that its end changed: a window of ten thousand entries is not written anew for an answer that
    /// nothing reads.
    pub(crate) fn settled_variables(&self, how: Settled) -> impl Iterator<Item = &Arc<Variable>> {
        let is_undone = move |changed: &&Changed| how == Settled::Failed && changed.is_undone;
        let undone = self.changed.iter().filter(is_undone).map(|changed| &changed.variable);
        undone.chain(self.after.iter().map(|after| &after.variable))
    }

    /// What other processes have to know of the call while it is under way, if anything.
    pub(crate) fn flight(&self) -> Option<String> {
        if self.after.is_empty() {
            return None;
        }
        let after = self.after.iter().map(|after| {
            let mut text = declaration(&after.variable);
            if let Some(members) = text.as_object_mut() {
                members.insert("lost".to_owned(), spelled(&lost_of(after, &self.tool)));
            }
            text
        });
        let at = self.call.as_ref().and_then(|call| Some(call.now.as_ref().ok()?.0));
        Some(json!({ "tool": &*self.tool, "at": at, "after": after.collect::<Vec<_>>() }).to_string())
    }
}

impl Variable {
    /// What policies that share it must say alike.
    #[must_use]
    pub fn declared(&self) -> Declared {
        let first = shown(&Belief::Known(self.init.clone()));
        let combine = self.combine.map(|combine| format!(", combined by `{}`", combine.name()));
        let scope = if self.scope == Scope::Store { "store" } else { "session" };
        let begins = match self.kind {
            Kind::Window { .. } => String::new(),
            _ => format!(", {first} at first"),
        };
        let says = format!("{}{begins}{}, scope {scope}", self.kind, combine.unwrap_or_default());
        Declared { name: self.name.to_string(), is_stores: self.scope == Scope::Store, says }
    }
}

/// What other processes have to know of a call under way, in two parts: what it may do to these variables of the
/// store's, and to those of its session where `has_sessions` is set; and the rest.
///
/// # Errors
/// Nobody here can read it.
pub(crate) fn parted(
    flight: &str,
    stores: &BTreeSet<String>,
    has_sessions: bool,
) -> Result<[Option<String>; 2], Unreadable> {
    let read: Json = serde_json::from_str(flight).map_err(|why| Unreadable(why.to_string()))?;
    let after = read.get("after").and_then(Json::as_array);
    let after = after.ok_or_else(|| Unreadable("a call under way".to_owned()))?;
    let is_ours = |one: &Json| {
        let name = one.get("name").and_then(Json::as_str);
        let is_stores = one.get("is_stores") == Some(&Json::Bool(true));
        if is_stores { name.is_some_and(|name| stores.contains(name)) } else { has_sessions }
    };
    let (ours, theirs): (Vec<Json>, Vec<Json>) = after.iter().cloned().partition(is_ours);
    let (tool, at) = (read.get("tool"), read.get("at"));
    let part = |after: Vec<Json>| {
        (!after.is_empty()).then(|| json!({ "tool": tool, "at": at, "after": after }).to_string())
    };
    Ok([part(ours), part(theirs)])
}

fn declaration(variable: &Variable) -> Json {
    let of = match variable.kind {
        Kind::List { max } | Kind::Set { max } => json!(max),
        Kind::Window { per_us } => json!(per_us),
        _ => Json::Null,
    };
    json!({
        "name": &*variable.name,
        "kind": variable.kind.name(),
        "of": of,
        "init": spelled(&Belief::Known(variable.init.clone())),
        "is_stores": variable.scope == Scope::Store,
        "combine": variable.combine.map(Combine::name),
    })
}

/// What [`declaration`] made.
fn variable(text: &Json) -> Option<Variable> {
    let of = || text.get("of")?.as_u64();
    let max = || usize::try_from(of()?).ok();
    let kind = match text.get("kind")?.as_str()? {
        "bool" => Kind::Bool,
        "decimal" => Kind::Decimal,
        "int" => Kind::Int,
        "list" => Kind::List { max: max()? },
        "set" => Kind::Set { max: max()? },
        "string" => Kind::String,
        "timestamp" => Kind::Timestamp,
        "window" => Kind::Window { per_us: i64::try_from(of()?).ok()? },
        _ => return None,
    };
    let combine = match text.get("combine")? {
        Json::Null => None,
        name => Some(*Combine::ALL.iter().find(|combine| name == combine.name())?),
    };
    let init = belief(text.get("init")?)?.value()?.clone();
    let scope = if text.get("is_stores")?.as_bool()? { Scope::Store } else { Scope::Session };
    Some(Variable { name: text.get("name")?.as_str()?.into(), kind, init, scope, combine })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Value;

    #[test]
    fn a_declaration_comes_back_as_it_was() {
        let kinds = [
            (Kind::Bool, Some(Combine::Or)),
            (Kind::Decimal, Some(Combine::Max)),
            (Kind::Int, Some(Combine::Add)),
            (Kind::List { max: 7 }, None),
            (Kind::Set { max: 8 }, Some(Combine::Union)),
            (Kind::String, None),
            (Kind::Timestamp, Some(Combine::Min)),
            (Kind::Window { per_us: 9 }, Some(Combine::Add)),
        ];
        for (kind, combine) in kinds {
            for scope in [Scope::Session, Scope::Store] {
                let of = Variable { name: "v".into(), kind, init: Value::first(kind), scope, combine };
                assert_eq!(variable(&declaration(&of)), Some(of));
            }
        }
        assert_eq!(variable(&json!({ "name": "v" })), None);
    }
}
