//! The facts of one session: what was given from outside, checked against what the policy declares.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::cel;
use crate::json::{Document, Limits, Value};
use crate::policy::Policy;

/// Values of the facts a policy declares. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Facts(Arc<BTreeMap<String, Option<Arc<Document>>>>);

impl Facts {
    /// What was given, with the policy's defaults for the rest.
    ///
    /// # Errors
    /// A sentence for each fact that the policy does not declare, or declares otherwise.
    pub fn new(policy: &Policy, given: &BTreeMap<String, Document>) -> Result<Facts, Vec<String>> {
        let declared = policy.facts();
        let wrong: Vec<String> = given
            .iter()
            .filter_map(|(name, value)| match declared.get(name) {
                None => Some(unknown(name, declared.keys())),
                Some(fact) => fact.check(value.root()).err().map(|why| format!("fact `{name}`: {why}")),
            })
            .collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let value = |name: &String, default: &Option<Arc<Document>>| match given.get(name) {
            Some(value) => Some(Arc::new(value.clone())),
            None => default.clone(),
        };
        let all = declared.iter().map(|(name, fact)| (name.clone(), value(name, &fact.default)));
        Ok(Facts(Arc::new(all.collect())))
    }

    /// What a record says, as far as the policy declares it; for the rest its defaults. And what it does not
    /// declare, or declares otherwise.
    pub(crate) fn replayed(
        policy: &Policy,
        recorded: &BTreeMap<String, Option<Bytes>>,
    ) -> (Facts, Vec<String>) {
        let mut given = BTreeMap::new();
        let mut lost = Vec::new();
        for (name, text) in recorded.iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
            let value = Document::read(text.clone(), &Limits::default()).ok();
            match (value, policy.facts().get(name)) {
                (Some(value), Some(fact)) if fact.check(value.root()).is_ok() => {
                    given.insert(name.clone(), value);
                }
                _ => lost.push(name.clone()),
            }
        }
        (Facts::new(policy, &given).unwrap_or_default(), lost)
    }

    /// The value of a fact.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Value<'_>> {
        self.0.get(name)?.as_deref().map(Document::root)
    }

    /// Names and values, for a record; `None` is declared and not given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<Value<'_>>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_deref().map(Document::root)))
    }

    /// `facts.NAME` in an expression.
    pub(crate) fn member(&self, name: &str) -> Option<cel::Value<'_>> {
        Some(match self.0.get(name)? {
            Some(value) => cel::Value::Json(value.root()),
            None => cel::Value::missing(format!("the fact `{name}` was not given")),
        })
    }

    /// `facts` as a whole.
    pub(crate) fn all(&self) -> cel::Value<'_> {
        let given = self.0.keys().filter_map(|name| Some((name.as_str(), self.member(name)?)));
        cel::Value::map(given)
    }
}

fn unknown<'a>(name: &str, declared: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<String> = declared.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return format!("fact `{name}`: the policy declares no facts; declare it under `facts:`");
    }
    format!("fact `{name}`: the policy does not declare it; it declares {}", names.join(", "))
}
