//! `framegate show`: one record in full.

mod json;

use std::io;

use framegate_guard::store::StoreError;
use framegate_guard::store::chain::hex;
use framegate_guard::store::read::{Record, Row};
use framegate_guard::store::retrace::{Missing, Retracer, Source as _};
use serde_json::Value;

use super::log::record_file;
use super::out::{Failure, Out, store_failure};
use crate::args::{ShowArgs, ShownArguments};
use crate::exit::Exit;
use crate::history::after::After;
use crate::history::call::RecordedCall;
use crate::history::file::RecordFile;
use crate::history::line::{clip, local, milliseconds, utc, visible, visible_json};
use crate::history::reply;
use crate::redact;

/// Characters of a content that are shown; `log --json --all` has all of it.
const SHOWN_CHARS: usize = 4000;

pub(crate) fn main(args: &ShowArgs) -> Exit {
    match show(args, &mut Out::stdout()) {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

fn show(args: &ShowArgs, out: &mut Out) -> Result<(), Failure> {
    let (file, path) = record_file(args.file.as_ref())?;
    let failure = |why: StoreError| store_failure(&path, &why);
    let row = file.row(args.id).map_err(failure)?.ok_or_else(|| {
        let text = format!("`{}` has no record {}; see framegate log", path.display(), args.id);
        Failure { exit: Exit::Data, text }
    })?;
    if args.json {
        let json = json::of(&file, &row, args.arguments).map_err(failure)?;
        let written = out.line(&visible_json(&json.to_string())).and_then(|()| out.flush());
        return written.map_err(|why| Failure::stdout(&why));
    }
    let mut page = Page {
        retracer: Retracer::new(&file),
        file: &file,
        shown: args.arguments,
        secrets: Vec::new(),
        lines: Vec::new(),
    };
    page.record(&row).map_err(failure)?;
    let written = page.lines.iter().try_for_each(|line| out.line(&visible(line.clone())));
    written.and_then(|()| out.flush()).map_err(|why: io::Error| Failure::stdout(&why))
}

struct Page<'f> {
    retracer: Retracer<'f, RecordFile>,
    file: &'f RecordFile,
    shown: ShownArguments,
    /// What looks like a credential in the arguments: what was found, asked, changed quotes it without its name.
    secrets: Vec<String>,
    lines: Vec<String>,
}

impl Page<'_> {
    fn record(&mut self, row: &Row) -> Result<(), StoreError> {
        let record = row.record()?;
        for name in ["arguments", "params"].into_iter().filter(|_| self.shown != ShownArguments::Full) {
            if let Ok(Some(bytes)) = self.retracer.kept(&record, name)? {
                self.secrets.extend(redact::secrets(&bytes));
            }
        }
        let time = record.time().0;
        self.lines.push(format!("{} {}, {} ({})", record.kind(), row.seq, local(time), utc(time)));
        if record.kind() == "call" {
            let After { replies, again, end } = After::of(self.file, &record)?;
            let call = RecordedCall { replies, end, ..RecordedCall::of(row)? };
            self.call(&call, again.as_ref())?;
        } else {
            self.members(&record)?;
        }
        self.lines.push(field("hash", &row.hash.to_string()));
        Ok(())
    }

    fn call(&mut self, call: &RecordedCall, again: Option<&Record>) -> Result<(), StoreError> {
        let record = &call.record;
        let session = self.retracer.session(record)?.unwrap_or_default();
        self.lines.push(field(
            "session",
            &format!("{} of server {}, {}", session.seq, session.server, session.name),
        ));
        self.lines.push(field("tool", &self.tool(record)));
        self.content(record, "arguments", "arguments")?;
        self.decided(call)?;
        self.findings(record)?;
        for (name, title) in [
            ("answers", "asked"),
            ("changes", "changes"),
            ("approval", "approved"),
            ("edited", "sent as"),
            ("state", "state"),
        ] {
            self.content(record, name, title)?;
        }
        self.policy(record)?;
        self.asked(call, again)?;
        let sent = match record.text("sent") {
            Some("no") => "nothing",
            Some("edited") => "the call, edited",
            _ => "the call as it came",
        };
        self.lines.push(field("sent", sent));
        self.ended(call)?;
        self.gone(record)
    }

    /// Who was asked, and what came of it; the decision before, and the one after.
    fn asked(&mut self, call: &RecordedCall, again: Option<&Record>) -> Result<(), StoreError> {
        if let Some(first) = call.again() {
            self.lines.push(field("again", &format!("decided anew after record {first}")));
            let first = self.file.row(first)?.map(|row| row.record()).transpose()?;
            let before = first.map(|first| After::of(self.file, &first)).transpose()?;
            before.iter().flat_map(|before| &before.replies).for_each(|said| self.person(said));
        }
        call.replies.iter().for_each(|said| self.person(said));
        if let Some(again) = again {
            let outcome = again.text("outcome").unwrap_or_default();
            self.lines.push(field("then", &format!("decided anew as record {}: {outcome}", again.seq())));
        }
        Ok(())
    }

    fn person(&mut self, said: &Record) {
        let sentence = self.clean(&reply::sentence(said));
        self.lines.push(field("person", &format!("{sentence}; record {}", said.seq())));
        if let Some(note) = said.text("note") {
            self.lines.push(field("", &self.clean(note)));
        }
    }

    fn tool(&self, call: &Record) -> String {
        let listed = match (call.text("listed"), call.text("doubt")) {
            (Some("missing"), _) => " (the server did not list it)".to_owned(),
            (Some("tool"), Some(doubt)) => format!(" (listed, and not certain: {doubt})"),
            (Some("tool"), None) => String::new(),
            _ => " (the server's tools were not known)".to_owned(),
        };
        format!("{}{listed}", call.text("tool").unwrap_or_default())
    }

    fn decided(&mut self, call: &RecordedCall) -> Result<(), StoreError> {
        let by = call.by();
        let by = if by.is_empty() { by } else { format!(" ({by})") };
        let took = call.record.number("decided_us").map(|took| format!(", in {took} µs")).unwrap_or_default();
        let waived = if call.record.flag("waived") {
            ", sent before it was recorded (durability bounded)"
        } else {
            ""
        };
        self.lines.push(field("decided", &format!("{}{by}{took}{waived}", call.outcome())));
        Ok(())
    }

    fn findings(&mut self, call: &Record) -> Result<(), StoreError> {
        let Ok(Some(bytes)) = self.retracer.kept(call, "findings")? else { return Ok(()) };
        let list: Vec<Value> = serde_json::from_slice(&bytes).unwrap_or_default();
        for finding in &list {
            let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
            let trial =
                if finding.get("monitor") == Some(&Value::Bool(true)) { ", only monitored" } else { "" };
            let reason = text("reason");
            let prefix = format!("{}: ", text("check"));
            let what = format!("  {} [{}{trial}]", text("check"), text("effect"));
            if self.shown == ShownArguments::None {
                // A reason quotes what it is about.
                self.lines.push(what);
                continue;
            }
            let said = self.clean(reason.strip_prefix(&prefix).unwrap_or(reason));
            self.lines.push(format!("{what}: {said}"));
            if !text("advice").is_empty() {
                self.lines.push(format!("    next: {}", self.clean(text("advice"))));
            }
            for quoted in finding.get("evidence").and_then(Value::as_array).into_iter().flatten() {
                let part = |key: &str| quoted.get(key).map(|part| part.to_string()).unwrap_or_default();
                let quote = self.clean(&part("quote"));
                let place = format!("{} {}..{}", part("source"), part("start"), part("end"));
                self.lines.push(format!("    {}: {quote} ({place})", part("about")));
            }
        }
        Ok(())
    }

    /// The policy, and where in it the rules stand that decided.
    fn policy(&mut self, call: &Record) -> Result<(), StoreError> {
        let Ok(context) = self.retracer.context(call)? else { return Ok(()) };
        match self.retracer.policy(&context)? {
            Ok(policy) => {
                let rules: Vec<String> = call
                    .texts("failed")
                    .chain(call.texts("observed"))
                    .filter_map(|name| Some(format!("{name} in line {}", policy.rule_line(name)?)))
                    .collect();
                let rules = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
                let mode = if context.is_monitoring { ", monitored" } else { "" };
                self.lines.push(field("policy", &format!("{}{mode}{rules}", policy.name())));
                self.policy_text(context.seq)?;
            }
            Err(Missing::NoPolicy) => self.lines.push(field("policy", "none")),
            Err(why) => self.lines.push(field("policy", &format!("({why})"))),
        }
        Ok(())
    }

    /// Which text that was: a name says nothing of what stood in the file then.
    fn policy_text(&mut self, context: u64) -> Result<(), StoreError> {
        let Some(row) = self.file.row(context)? else { return Ok(()) };
        let context = row.record()?;
        if let (Some(sha256), Some(text)) = (context.text("policy_sha256"), context.number("policy")) {
            self.lines.push(field("", &format!("SHA-256 {sha256}, its text is record {text}")));
        }
        Ok(())
    }

    fn ended(&mut self, call: &RecordedCall) -> Result<(), StoreError> {
        let latency =
            call.latency_us().map(|took| format!(" after {}", milliseconds(took))).unwrap_or_default();
        self.lines.push(field("ended", &format!("{}{latency}", call.how())));
        match &call.end {
            Some(end) => {
                self.content(end, "result", "result")?;
                self.content(end, "state", "then")
            }
            None => Ok(()),
        }
    }

    /// A content, without what looks like a credential.
    fn content(&mut self, record: &Record, name: &str, title: &str) -> Result<(), StoreError> {
        let text = match self.retracer.kept(record, name)? {
            Ok(None) => return Ok(()),
            // Policies and definitions are no call's.
            Ok(Some(_)) if self.shown == ShownArguments::None && record.kind() != "text" => {
                "(not shown)".to_owned()
            }
            Ok(Some(bytes)) if name == "frame" || name == "out" => hex(&bytes),
            Ok(Some(bytes)) => {
                let cleaned = if self.is_full() { None } else { redact::bytes(&bytes) };
                self.unquoted(&String::from_utf8_lossy(&cleaned.unwrap_or_else(|| bytes.to_vec())))
            }
            Err(why) => format!("({why})"),
        };
        // Lines of a content stand under its first one, so that none passes for a field of ours.
        let text = clip(&text, SHOWN_CHARS);
        let titles = std::iter::once(title).chain(std::iter::repeat(""));
        self.lines.extend(
            titles.zip(text.trim_end_matches('\n').split('\n')).map(|(title, line)| field(title, line)),
        );
        Ok(())
    }

    /// Any other record, as it is.
    fn members(&mut self, record: &Record) -> Result<(), StoreError> {
        for (name, value) in
            record.members().filter(|(name, _)| !matches!(*name, "seq" | "time" | "kind" | "x"))
        {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = self.clean(&text);
            self.lines.push(field(name, &text));
        }
        let fields: Vec<String> = record.fields().map(str::to_owned).collect();
        fields.iter().try_for_each(|name| self.content(record, name, name))
    }

    /// What is not there any more.
    fn gone(&mut self, call: &Record) -> Result<(), StoreError> {
        let fields: Vec<String> = call.fields().map(str::to_owned).collect();
        let mut gone = Vec::new();
        for name in fields {
            if let Err(why) = self.retracer.kept(call, &name)? {
                gone.push(why.to_string());
            }
        }
        if !gone.is_empty() {
            self.lines.push(field("not there", &gone.join(", ")));
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.shown == ShownArguments::Full
    }

    fn clean(&self, text: &str) -> String {
        if self.is_full() { text.to_owned() } else { self.unquoted(&redact::text(text)) }
    }

    fn unquoted(&self, text: &str) -> String {
        if self.is_full() { text.to_owned() } else { redact::without(text, &self.secrets) }
    }
}

fn field(title: &str, text: &str) -> String {
    format!("{title:<10} {text}")
}
