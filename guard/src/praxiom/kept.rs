//! What a session remembers, as JSON: for a store that several processes share, and for the record, from which a
//! decision is made again.
//!
//! ```text
//! {"fresh":true,"version":0,"variables":[["tainted","bool",false],["n","int",5],["s","str",["answer lost"]]],"due":[[7,["tainted"]]]}
//! ```
//!
//! `fresh`: no call has changed anything yet. A value that nobody can say is a list with the reason. `due`: calls without
//! an answer, by their step, with what that may change. It says by itself what the variables are, so that it can be read
//! before the policy is, and by another one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::past::{Due, Past};
use super::python::json_string;
use super::state::{State, StateError, kept, put};
use super::value::{Kept, Sort};
use super::yaml11::INT_DIGITS_MAX;
use crate::json::{Document, Limits, Value};

impl Past {
    /// As JSON.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut out = String::from("{");
        // Writing to a string cannot fail.
        let _ =
            write!(out, r#""fresh":{},"version":{},"variables":["#, !self.state.is_committed(), self.version);
        for (at, ((name, sort), value)) in self.variables.iter().zip(self.state.values.iter()).enumerate() {
            out.push_str(if at > 0 { ",[" } else { "[" });
            json_string(&mut out, name);
            let _ = write!(out, r#","{}","#, sort.word());
            put(&mut out, value);
            out.push(']');
        }
        out.push_str(r#"],"due":["#);
        for (at, (step, due)) in self.due.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let names = serde_json::Value::from(due.may_change.as_slice());
            let _ = write!(out, "{comma}[{step},{names}]");
        }
        out.push_str("]}");
        out
    }

    /// From JSON. What a process that is gone had under way is still due: [`Past::lose`].
    ///
    /// # Errors
    /// It is none.
    pub fn decode(text: &str) -> Result<Past, StateError> {
        let limits = Limits { number_digits: INT_DIGITS_MAX, ..Limits::default() };
        let document =
            Document::read(text.to_owned().into(), &limits).map_err(|why| StateError(why.to_string()))?;
        let root = document.root();
        let no = |what: &str| StateError(format!("its `{what}` cannot be read"));
        let list = |key: &'static str| root.get(key).ok_or_else(|| no(key));
        let (mut variables, mut values) = (Vec::new(), Vec::new());
        for (at, item) in list("variables")?.items().enumerate() {
            let (name, value) = variable(item, at).ok_or_else(|| no("variables"))?;
            variables.push(name);
            values.push(value);
        }
        let due: Option<BTreeMap<u64, Due>> = list("due")?.items().map(due).collect();
        let number = |value: Value<'_>| value.number()?.parse().ok();
        let is_fresh = root.get("fresh").and_then(Value::as_bool).ok_or_else(|| no("fresh"))?;
        Ok(Past {
            variables: variables.into(),
            state: if is_fresh { State::initial(values.clone(), &values) } else { State::committed(values) },
            version: root.get("version").and_then(number).ok_or_else(|| no("version"))?,
            due: due.ok_or_else(|| no("due"))?,
        })
    }
}

fn variable(item: Value<'_>, at: usize) -> Option<((String, Sort), Kept)> {
    let sort = Sort::named(item.item(1)?.as_str()?)?;
    let value = kept(item.item(2)?, sort, at)?;
    Some(((item.item(0)?.as_str()?.to_owned(), sort), value))
}

fn due(item: Value<'_>) -> Option<(u64, Due)> {
    let names: Option<Vec<String>> =
        item.item(1)?.items().map(|name| name.as_str().map(str::to_owned)).collect();
    Some((item.item(0)?.number()?.parse().ok()?, Due { may_change: names?, before: None }))
}
