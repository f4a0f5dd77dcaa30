use std::sync::Arc;

use super::*;
use crate::json::{Document, Limits};
use crate::policy::{Ask, AskField};
use crate::schema::Schema;

mod answers;
mod forms;
mod outcomes;

pub(super) fn document(text: &str) -> Document {
    Document::read(text.to_owned().into(), &Limits::default())
        .unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

pub(super) fn schema(text: &str) -> Schema {
    Schema::compile(document(text).root()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// An `ask` that says this of `a`.
fn saying(field: &str) -> Ask {
    let fields = [("a".to_owned(), AskField(Arc::new(document(field))))];
    Ask { fields: fields.into(), ..Ask::default() }
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}
