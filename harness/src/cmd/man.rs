//! `framegate man`: the man page of `framegate`, or of one subcommand, from the definitions of the command line.

use std::io::{self, Write};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::out::Failure;
use crate::args::Cli;
use crate::exit::Exit;

pub(crate) fn main(path: &[String]) -> Exit {
    let Some(command) = command(path) else {
        let text = format!("there is no subcommand `{}`; see framegate --help", path.join(" "));
        return Failure { exit: Exit::Usage, text }.said();
    };
    super::print(|out| page(command, out))
}

/// With its whole name: `framegate-run`, `framegate-approver-init`.
fn command(path: &[String]) -> Option<Command> {
    let mut all = Cli::command();
    all.build();
    let mut found = &all;
    for name in path {
        found = found.find_subcommand(name)?;
    }
    let name =
        std::iter::once("framegate").chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    Some(found.clone().display_name(name))
}

/// The sections in the order of man-pages(7). A library makes most of them; its synopsis lists the options without
/// their values, loses the `--` before a server's command, and everything behind the options is one paragraph.
fn page(mut command: Command, out: &mut dyn Write) -> io::Result<()> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let usage = command.render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    let is_whole = command.get_name() == "framegate";
    let title = command.get_display_name().unwrap_or("framegate").to_ascii_uppercase();
    let has_subcommands = command.has_subcommands();
    let man = Man::new(command)
        .title(title)
        .source(concat!("framegate ", env!("CARGO_PKG_VERSION")))
        .manual("Framegate");
    man.render_title(out)?;
    man.render_name_section(out)?;
    section(out, "SYNOPSIS", &usage)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if has_subcommands {
        man.render_subcommands_section(out)?;
    }
    for (name, text) in sections(&after) {
        section(out, name, &text)?;
    }
    if is_whole { Ok(()) } else { section(out, "SEE ALSO", "framegate(1)") }
}

/// What stands behind the options in the help, by what it is about.
fn sections(after: &str) -> Vec<(&'static str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for block in after.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let parts = [("Examples:", "EXAMPLES"), ("Example:", "EXAMPLES"), ("Exit codes:", "EXIT STATUS")];
        let part = parts.iter().find_map(|(start, name)| Some((*name, block.strip_prefix(start)?)));
        let (name, text) = part.unwrap_or(("NOTES", block));
        all.push((name, text.trim_matches('\n').trim_start_matches(' ').to_owned()));
    }
    all
}

/// As it is written, line by line.
fn section(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, ".SH {}", name.replace(' ', "\\ "))?;
    let is_prose =
        text.lines().all(|line| !line.starts_with(' ')) && name != "SYNOPSIS" && name != "EXAMPLES";
    writeln!(out, "{}", if is_prose { ".ad l" } else { ".nf" })?;
    for line in text.lines() {
        writeln!(out, "{}", roff(line.strip_prefix("  ").unwrap_or(line)))?;
    }
    writeln!(out, "{}", if is_prose { ".ad b" } else { ".fi" })
}

/// Nothing in a line is taken for a request or an escape.
fn roff(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if line.starts_with(['.', '\\']) { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &[&str]) -> String {
        let mut out = Vec::new();
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        page(command(&path).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_page_has_its_name_and_how_it_is_called() {
        let pages = Cli::command();
        for name in pages.get_subcommands().map(Command::get_name) {
            let page = text(&[name]);
            let dashed = roff(&format!("framegate-{name}"));
            let version = env!("CARGO_PKG_VERSION");
            assert!(
                page.contains(&format!(
                    ".TH FRAMEGATE-{} 1  \"framegate {version}\"",
                    name.to_ascii_uppercase()
                )),
                "{page}"
            );
            assert!(page.contains(&format!(".SH NAME\n{dashed} \\- ")), "{page}");
            assert!(
                page.contains(&format!(".SH SYNOPSIS\n.nf\nframegate {} [OPTIONS]", roff(name))),
                "{page}"
            );
            assert!(page.contains(".SH SEE\\ ALSO\n"), "{page}");
            assert!(!page.contains(".SH EXTRA"), "{page}");
        }
        let check = text(&["check"]);
        assert!(check.contains("framegate check [OPTIONS] <POLICY> [\\-\\- <COMMAND>...]\n"), "{check}");
        assert!(check.contains(".SH EXAMPLES\n.nf\nframegate check framegate.yaml\n"), "{check}");
        assert!(check.contains(".SH EXIT\\ STATUS\n.ad l\n0 no errors"), "{check}");
        let run = text(&["run"]);
        assert!(run.contains(".SH EXIT\\ STATUS\n.nf\n0      the session ended cleanly\n"), "{run}");
        let whole = text(&[]);
        assert!(
            whole.contains(".SH NAME\nframegate \\- ") && whole.contains("framegate\\-check(1)"),
            "{whole}"
        );
        let nested = text(&["approver", "init"]);
        assert!(nested.contains(".SH NAME\nframegate\\-approver\\-init \\- "), "{nested}");
        assert!(nested.contains("\nframegate approver init [OPTIONS]"), "{nested}");
        assert!(command(&["approver".to_owned(), "no-such".to_owned()]).is_none());
    }
}
