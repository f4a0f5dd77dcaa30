//! `framegate scan`: what in a text reads like an instruction.

use std::io::{self, Read};
use std::path::Path;

use framegate_guard::detect::{Explained, Kind, Looking, Passage, Reading, Reread, explain};
use serde_json::json;

use super::out::{Failure, LINE_BYTES_MAX, Out};
use crate::approve::visible;
use crate::args::{ScanArgs, ScannedAs};
use crate::exit::Exit;
use crate::history::line::visible_json;

/// Characters of a passage that a row shows.
const SHOWN_CHARS: usize = 200;

pub(crate) fn main(args: &ScanArgs) -> Exit {
    match scan(args, &mut Out::stdout()) {
        Ok(false) => Exit::Clean,
        Ok(true) => Exit::Failed,
        Err(failure) => failure.said(),
    }
}

/// Whether something was found.
fn scan(args: &ScanArgs, out: &mut Out) -> Result<bool, Failure> {
    let text = read(&args.file)?;
    let explained = explain(&text, looking(args.looking));
    let report = Report { name: args.file.display().to_string(), text: &text, json: args.json };
    report.write(&explained, args.explain, out).map_err(|why| Failure::stdout(&why))?;
    Ok(explained.scan.carries())
}

fn looking(typed: ScannedAs) -> Looking {
    match typed {
        ScannedAs::Output => Looking::Output,
        ScannedAs::User => Looking::User,
        ScannedAs::Description => Looking::Description,
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let limit = LINE_BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        Failure::open(file)?.take(limit).read_to_end(&mut bytes)
    };
    read.map_err(|why| Failure::read(&name.to_string(), &why))?;
    let data = |text: String| Failure { exit: Exit::Data, text };
    if bytes.len() > LINE_BYTES_MAX {
        return Err(data(format!("`{name}` has more than {LINE_BYTES_MAX} bytes; scan it in pieces")));
    }
    String::from_utf8(bytes).map_err(|why| {
        let at = why.utf8_error().valid_up_to();
        data(format!("`{name}` is not UTF-8 from byte {at} on; convert it first (iconv)"))
    })
}

struct Report<'a> {
    name: String,
    text: &'a str,
    json: bool,
}

impl Report<'_> {
    fn write(&self, explained: &Explained, readings: bool, out: &mut Out) -> io::Result<()> {
        for reread in explained.readings.iter().filter(|_| readings) {
            out.line(&self.reread(reread))?;
        }
        let mut place = Place::default();
        for passage in &explained.scan.passages {
            place.go(self.text, passage.span.start);
            out.line(&self.passage(passage, &place))?;
        }
        if !explained.scan.is_complete {
            out.line(&self.incomplete())?;
        }
        out.flush()
    }

    fn quote(&self, passage: &Passage) -> &str {
        self.text.get(passage.span.clone()).unwrap_or_default()
    }

    fn passage(&self, passage: &Passage, place: &Place) -> String {
        let Passage { span, rule, kind, reading } = passage;
        let (line, column) = (place.line, place.column);
        if self.json {
            let object = json!({
                "rule": rule, "kind": kind.name(), "reading": reading.name(), "start": span.start,
                "end": span.end, "line": line, "column": column, "text": self.quote(passage),
            });
            return visible_json(&object.to_string());
        }
        let read = match reading {
            Reading::Written => String::new(),
            other => format!(", read as {}", other.name()),
        };
        let shown = visible::line(self.quote(passage), SHOWN_CHARS);
        let name = visible::plain(&self.name);
        format!("{name}:{line}:{column}: {rule}, {}{read}: \"{shown}\"", says(*kind))
    }

    fn reread(&self, reread: &Reread) -> String {
        let Reread { reading, span, text } = reread;
        if self.json {
            let object =
                json!({"read_as": reading.name(), "start": span.start, "end": span.end, "text": text});
            return visible_json(&object.to_string());
        }
        let shown = visible::line(text, SHOWN_CHARS);
        format!("bytes {} to {} as {}: \"{shown}\"", span.start, span.end, reading.name())
    }

    fn incomplete(&self) -> String {
        if self.json {
            return json!({"incomplete": true}).to_string();
        }
        format!(
            "{}: too costly to be read to its end; such a text counts as carrying instructions",
            visible::plain(&self.name)
        )
    }
}

/// Line and column of a byte, both from 1, the column in characters.
struct Place {
    at: usize,
    line: usize,
    column: usize,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: 0, line: 1, column: 1 }
    }
}

impl Place {
    /// Goes on to a later byte: each part of the text is counted once.
    fn go(&mut self, text: &str, to: usize) {
        for character in text.get(self.at..to).unwrap_or_default().chars() {
            if character == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
        }
        self.at = to;
    }
}

fn says(kind: Kind) -> &'static str {
    match kind {
        Kind::Role => "speaks as another",
        Kind::Override => "takes back what was said",
        Kind::Address => "speaks to the model",
        Kind::Direct => "dictates the answer",
        Kind::Action => "asks for an action",
        Kind::Intent => "asks for a visit, a booking, an appointment",
        Kind::Hidden => "is not to be seen",
    }
}
