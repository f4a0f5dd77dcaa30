//! Schemas that were compiled before: a listing that changes one tool of a thousand compiles one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::json::Value;
use crate::schema::Schema;

/// A schema, or why it cannot be used.
pub(super) type Compiled = Result<Arc<Schema>, String>;

/// By the hash of their text. Shared by all listings of one server; a schema that the last one does not have is
/// forgotten.
#[derive(Debug, Default)]
pub(super) struct Schemas(Mutex<HashMap<[u8; 32], Compiled>>);

/// One listing's use of them.
#[derive(Debug)]
pub(super) struct Use<'s> {
    schemas: &'s Schemas,
    used: HashSet<[u8; 32]>,
}

impl Schemas {
    pub(super) fn begin(&self) -> Use<'_> {
        Use { schemas: self, used: HashSet::new() }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Use<'_> {
    /// The schema of that text; without one, every object fits.
    pub(super) fn schema(&mut self, source: Option<Value<'_>>) -> Compiled {
        let key = Sha256::digest(source.map_or("", Value::raw)).into();
        self.used.insert(key);
        if let Some(known) = self.known().get(&key) {
            return known.clone();
        }
        // Not under the lock: compiling takes long, and a policy may be changed meanwhile.
        let compiled = Schema::adopt(source).map(Arc::new).map_err(|why| why.to_string());
        self.known().entry(key).or_insert(compiled).clone()
    }

    /// Forgets what was not asked for.
    pub(super) fn end(self) {
        self.known().retain(|key, _| self.used.contains(key));
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Compiled>> {
        self.schemas.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
