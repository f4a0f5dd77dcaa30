//! `framegate init`: a policy to start from, with every tool that the server lists.

mod draft;
mod guess;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use self::draft::Draft;
use super::ask;
use super::new_file;
use super::out::{Failure, Out};
use crate::args::InitArgs;
use crate::exit::Exit;

/// What a draft calls itself where it goes to stdout.
const USUAL: &str = "framegate.yaml";

pub(crate) fn main(args: &InitArgs) -> Exit {
    match init(args) {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

fn init(args: &InitArgs) -> Result<(), Failure> {
    // Before the server is started for nothing.
    let output = new_file::named(args.output.as_deref());
    output.map_or(Ok(()), new_file::is_free)?;
    let file = output.map_or_else(|| USUAL.to_owned(), |path| word(path.as_os_str()));
    let text = if args.command.is_empty() {
        draft::blank(&file)
    } else {
        let asked = ask::ask(&args.command, args.cwd.as_deref(), args.timeout)?;
        let tools = draft::once(asked.tools);
        let folders = folders(args);
        Draft { file, command: words(&args.command), tools, folders, has_resources: asked.has_resources }
            .text()
    };
    match output {
        Some(path) => write_new(path, &text, args),
        None => {
            let mut out = Out::stdout();
            out.line(text.trim_end()).and_then(|()| out.flush()).map_err(|why| Failure::stdout(&why))
        }
    }
}

fn write_new(path: &Path, text: &str, args: &InitArgs) -> Result<(), Failure> {
    new_file::write(path, text)?;
    let file = word(path.as_os_str());
    let server = if args.command.is_empty() { "SERVER".to_owned() } else { words(&args.command) };
    let next = format!("wrote {file}; read it, then: framegate check {file} -- {server}");
    let mut out = Out::stdout();
    out.line(&next).and_then(|()| out.flush()).map_err(|why| Failure::stdout(&why))
}

/// Folders that the server's command names, or else the one it is started in.
fn folders(args: &InitArgs) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let cwd = here.join(args.cwd.as_deref().unwrap_or(Path::new("")));
    let named = args.command.iter().skip(1).map(|word| cwd.join(word)).filter(|path| path.is_dir());
    let mut all: Vec<PathBuf> = named.collect();
    if all.is_empty() {
        all.push(cwd);
    }
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path).into_os_string().into_string().ok();
    all.into_iter().filter_map(real).collect()
}

/// A command as one would type it.
fn words(command: &[OsString]) -> String {
    command.iter().map(|one| word(one)).collect::<Vec<_>>().join(" ")
}

fn word(word: &std::ffi::OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@=:,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    draft::one_line(&format!("'{}'", word.replace('\'', r"'\''")))
}
