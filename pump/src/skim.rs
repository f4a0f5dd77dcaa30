//! Reading the top level of a frame that is being thrown away.
//!
//! A frame over the cap is discarded, but whoever waits for its answer must be told, and
//! TypeScript peers write `id` *last*: so the structure is followed to the end, in constant
//! memory, one chunk at a time.

/// Longest key or `id` that is kept, in bytes.
const KEPT_BYTES_MAX: usize = 1024;

/// What the top level of a discarded frame held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skimmed {
    /// The JSON text of `id`, when there was exactly one and it was short.
    pub id: Option<String>,
    /// A top-level `method` was there: a request or a notification.
    pub has_method: bool,
    /// A top-level `result` or `error` was there.
    pub has_answer: bool,
}

/// A resumable scan over one JSON object's structure; it does not validate.
#[derive(Debug, Default)]
pub(crate) struct Skim {
    depth: u64,
    in_string: bool,
    escaped: bool,
    /// What of the current top-level token is being kept, if it is.
    keeping: Keeping,
    kept: Vec<u8>,
    key: Vec<u8>,
    ids: u32,
    found: Skimmed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keeping {
    #[default]
    Nothing,
    Key,
    Value,
}

impl Skim {
    /// Reads the next bytes of the frame.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.in_string && !self.escaped && self.keeping == Keeping::Nothing {
                // The bulk of a long frame is inside strings that nobody keeps.
                match memchr::memchr2(b'"', b'\\', bytes) {
                    None => return,
                    Some(at) if at > 0 => {
                        bytes = bytes.split_at(at).1;
                        continue;
                    }
                    Some(_) => {}
                }
            }
            self.step(byte);
            bytes = rest;
        }
    }

    /// What was found; call it at the end of the frame.
    pub(crate) fn finish(mut self) -> Skimmed {
        if self.ids != 1 || self.found.id.as_ref().is_some_and(String::is_empty) {
            self.found.id = None;
        }
        self.found
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            return self.step_in_string(byte);
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.keeping == Keeping::Nothing {
                    self.keeping = Keeping::Key;
                    self.kept.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.keep(byte);
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b',' if self.depth == 1 => self.end_value(),
            b':' if self.depth == 1 && self.keeping == Keeping::Nothing => {
                self.keeping = Keeping::Value;
                self.kept.clear();
                self.note_key();
            }
            _ => self.keep(byte),
        }
    }

    fn step_in_string(&mut self, byte: u8) {
        self.keep(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            if self.keeping == Keeping::Key && self.depth == 1 {
                self.keeping = Keeping::Nothing;
                self.key = std::mem::take(&mut self.kept);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.keeping == Keeping::Nothing {
            return;
        }
        if self.kept.len() < KEPT_BYTES_MAX {
            self.kept.push(byte);
        } else if self.keeping == Keeping::Value {
            // Too long to be an id anyone answers by; an empty text marks it as such.
            self.kept.clear();
            self.keeping = Keeping::Nothing;
        }
    }

    fn note_key(&mut self) {
        match serde_json::from_slice::<String>(&self.key).as_deref() {
            Ok("id") => self.ids += 1,
            Ok("method") => self.found.has_method = true,
            Ok("result" | "error") => self.found.has_answer = true,
            _ => {}
        }
        if !self.is_at_id() {
            self.keeping = Keeping::Nothing;
        }
    }

    fn end_value(&mut self) {
        if self.keeping == Keeping::Value && self.is_at_id() {
            let text = String::from_utf8_lossy(&self.kept).trim().to_owned();
            self.found.id = Some(text);
        }
        self.keeping = Keeping::Nothing;
        self.kept.clear();
    }

    fn is_at_id(&self) -> bool {
        serde_json::from_slice::<String>(&self.key).is_ok_and(|key| key == "id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skim(text: &str, chunk: usize) -> Skimmed {
        let mut skim = Skim::default();
        for piece in text.as_bytes().chunks(chunk) {
            skim.feed(piece);
        }
        skim.finish()
    }

    #[test]
    fn a_trailing_top_level_id_is_found_in_any_cutting() {
        let text = r#"{"result":{"id":7,"t":"\"id\":8,\\"},"jsonrpc":"2.0", "id" : "a\"b" }"#;
        for chunk in [1, 2, 3, 7, 1000] {
            let found = skim(text, chunk);
            assert_eq!(found.id.as_deref(), Some(r#""a\"b""#), "chunks of {chunk}");
            assert!(found.has_answer && !found.has_method);
        }
    }

    #[test]
    fn an_id_that_is_not_certain_is_none() {
        assert_eq!(skim(r#"{"id":1,"x":2,"id":1}"#, 5).id, None);
        assert_eq!(skim(r#"{"x":{"id":1}}"#, 5).id, None);
        assert_eq!(skim(&format!(r#"{{"id":"{}"}}"#, "x".repeat(2000)), 64).id, None);
        assert_eq!(skim("no json at all: \"id\":1", 4).id, None);
    }

    #[test]
    fn escaped_keys_count() {
        let found = skim(r#"{"\u0069d":5,"m\u0065thod":"x"}"#, 3);
        assert_eq!(found.id.as_deref(), Some("5"));
        assert!(found.has_method);
    }
}
