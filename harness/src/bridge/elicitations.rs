//! What a server asks of the user by an error: `-32042` with `data.elicitations` (2025-11-25).

use bytes::Bytes;
use framegate_guard::json::{Document, Kind, Limits};
use framegate_guard::look::fold;
use serde_json::value::RawValue;

use super::answers::Members;

/// The elicitations inside an error, under whatever some reader takes for `data.elicitations`; each is the `params`
/// of an `elicitation/create`. The error's code is not looked at: a client may go by the member alone.
pub(super) fn in_error(error: &RawValue) -> Result<Vec<Document>, String> {
    let mut found = Vec::new();
    for data in named(error, "data")? {
        for elicitations in named(data, "elicitations")? {
            let text = Bytes::copy_from_slice(elicitations.get().as_bytes());
            let all = Document::read(text, &Limits::default()).map_err(|why| why.to_string())?;
            match all.root().kind() {
                Kind::Array => found.extend(all.root().items().filter_map(|one| {
                    let text = Bytes::copy_from_slice(one.raw().as_bytes());
                    Document::read(text, &Limits::default()).ok()
                })),
                Kind::Null => {}
                _ => return Err("`elicitations` is no list".to_owned()),
            }
        }
    }
    Ok(found)
}

/// The members of an object that some reader takes for this one; of anything else none.
fn named<'a>(object: &'a RawValue, name: &str) -> Result<Vec<&'a RawValue>, String> {
    if !object.get().starts_with('{') {
        return Ok(Vec::new());
    }
    let Members(members) = serde_json::from_str(object.get()).map_err(|why| why.to_string())?;
    Ok(members.into_iter().filter(|(key, _)| fold(key) == name).map(|(_, value)| value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(error: &str) -> Result<Vec<String>, String> {
        let error: &RawValue = serde_json::from_str(error).unwrap();
        let url = |one: &Document| one.root().get("url").unwrap().as_str().unwrap().to_owned();
        Ok(in_error(error)?.iter().map(url).collect())
    }

    #[test]
    fn every_elicitation_that_some_reader_finds_is_found() {
        let error = r#"{"code":-32042,"message":"m","data":{"elicitations":[{"url":"a"},{"url":"b"}],"Elicitations":[{"url":"c"}]},"data":{"elicitations":[{"url":"d"}]}}"#;
        assert_eq!(urls(error).unwrap(), ["a", "b", "c", "d"]);
        for none in [r#""text""#, r#"{"code":-1}"#, r#"{"data":[1]}"#, r#"{"data":{"elicitations":null}}"#] {
            assert_eq!(urls(none).unwrap(), Vec::<String>::new(), "{none}");
        }
        assert!(urls(r#"{"data":{"elicitations":{"url":"a"}}}"#).is_err());
        assert!(
            urls(r#"{"data":{"elicitations":[{"url":"a","url":"b"}]}}"#)
                .unwrap_err()
                .contains("duplicate key")
        );
    }
}
