//! What stands in a store, checked link by link.

use std::path::Path;

use framegate_guard::store::chain::{Hash, link};
use framegate_guard::store::sqlite::Store;
use serde_json::Value;

/// Panics unless the verifier of `guard/RECORD.md` in Python finds this record whole, as any reader of ours does.
pub fn verified_by_python(file: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("verify_record.py");
    let output = std::process::Command::new("python3").arg(script).arg(file).output();
    let done = output.map(|output| {
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), said)
    });
    assert!(matches!(&done, Ok((Some(0), said)) if said.contains("head")), "{}: {done:?}", file.display());
}

/// Panics unless a record is whole, to `program` too, and each decision in it can be made again. What was said of it.
pub fn decided_again(program: &str, file: &Path) -> String {
    if let Err(why) = Stored::read(file) {
        panic!("{}: {why}", file.display());
    }
    let mut all = String::new();
    for command in ["verify", "replay"] {
        let output = std::process::Command::new(program).arg(command).arg(file).output();
        let output = output.expect("the program can be run");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        all += &said;
    }
    all
}

/// A store that was read whole.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// The records, oldest first.
    pub records: Vec<Value>,
    /// What lies beside each: name and bytes.
    contents: Vec<Vec<(String, Vec<u8>)>>,
    /// The last record's hash.
    head: Hash,
}

impl Stored {
    /// Reads a store; each record must follow from the one before, and each content must be what its body commits to.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let mut stored = Self::default();
        stored.read_on(file)?;
        Ok(stored)
    }

    /// Reads what was appended since; it must follow from what was there, which must be there still.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_on(&mut self, file: &Path) -> Result<(), String> {
        let reader = Store::open_read(file).map_err(|why| why.to_string())?;
        let known = self.records.len() as u64;
        if known > 0 {
            let last = reader.row(known).map_err(|why| why.to_string())?;
            if last.is_none_or(|last| last.hash != self.head) {
                return Err(format!("record {known} is lost or another one"));
            }
        }
        for row in reader.rows(known + 1..) {
            let row = row.map_err(|why| why.to_string())?;
            let seq = self.records.len() as u64 + 1;
            let is_linked = row.seq == seq && row.hash == link(&self.head, &row.body);
            self.head = row.hash;
            let body: Value = serde_json::from_str(&row.body).map_err(|why| why.to_string())?;
            if !is_linked || body["seq"] != seq {
                return Err(format!("the chain breaks at record {seq}: {body}"));
            }
            let kept = reader.contents(seq).map_err(|why| why.to_string())?;
            for content in &kept {
                if body["x"][&content.field] != content.commitment().to_string() {
                    return Err(format!("record {seq}: `{}` is not what was committed to", content.field));
                }
            }
            let contents = kept.into_iter().map(|kept| (kept.field, kept.bytes.to_vec()));
            self.contents.push(contents.collect());
            self.records.push(body);
        }
        Ok(())
    }

    /// The records of a kind.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.records.iter().filter(move |record| record["kind"] == kind)
    }

    /// A record's content, as text.
    pub fn content(&self, record: &Value, field: &str) -> Option<String> {
        let at = usize::try_from(record["seq"].as_u64()?).ok()?.checked_sub(1)?;
        let (_, bytes) = self.contents.get(at)?.iter().find(|(name, _)| name == field)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// How the call with this number ended: its last `end`.
    pub fn end_of<'a>(&'a self, call: &Value) -> Option<&'a Value> {
        let seq = &call["seq"];
        self.records.iter().rfind(|record| record["kind"] == "end" && record["call"] == *seq)
    }
}
