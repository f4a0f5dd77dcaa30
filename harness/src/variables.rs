//! Variables that look as if they set something for Framegate, and set nothing.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::args::Cli;

const PREFIX: &str = "FRAMEGATE_";
/// Of the tests and benches of the project.
const INTERNAL: [&str; 2] = ["FRAMEGATE_BIN", "FRAMEGATE_BLESS"];
/// Warnings at one start.
const WARNINGS_MAX: usize = 20;
/// A longer name is no slip of the hand.
const NAME_BYTES_MAX: usize = 128;

/// A warning for each variable of our prefix that no option reads: a misspelt `FRAMEGATE_POLICY` would run without
/// a policy, and say nothing.
pub(crate) fn unknown(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let known = known();
    let ours = names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(PREFIX));
    let mut unknown: Vec<String> =
        ours.filter(|name| !known.contains(name) && !INTERNAL.contains(&name.as_str())).collect();
    unknown.sort();
    unknown.truncate(WARNINGS_MAX);
    let warning = |name: String| match nearest(&name, &known) {
        Some(near) => format!("the variable `{name}` sets nothing: did you mean `{near}`?"),
        None => format!("the variable `{name}` sets nothing; framegate run --help lists those that do"),
    };
    unknown.into_iter().map(warning).collect()
}

/// Of every subcommand: what is set for `try` is no slip in `run`.
fn known() -> Vec<String> {
    let cli = Cli::command();
    let commands = std::iter::once(&cli).chain(cli.get_subcommands());
    let variables = commands.flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_env);
    variables.filter_map(|name| name.to_str().map(str::to_owned)).collect()
}

fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let own = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let typed = own(name);
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(&typed, &own(known)), known));
    let (edits, near) = near.min_by_key(|(edits, _)| *edits)?;
    (edits <= (own(near).len() / 3).max(1)).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(names: &[&str]) -> Vec<String> {
        unknown(names.iter().map(OsString::from))
    }

    #[test]
    fn a_variable_that_sets_nothing_is_told_the_nearest_that_does() {
        assert_eq!(
            said(&["FRAMEGATE_POLCIY", "FRAMEGATE_XYZ", "PATH", "FRAMEGATE_LOGFORMAT"]),
            [
                "the variable `FRAMEGATE_LOGFORMAT` sets nothing: did you mean `FRAMEGATE_LOG_FORMAT`?",
                "the variable `FRAMEGATE_POLCIY` sets nothing: did you mean `FRAMEGATE_POLICY`?",
                "the variable `FRAMEGATE_XYZ` sets nothing; framegate run --help lists those that do",
            ]
        );
        let fine =
            ["FRAMEGATE_POLICY", "FRAMEGATE_COLOR", "FRAMEGATE_FACTS", "FRAMEGATE_BIN", "FRAMEGATE_LOG"];
        assert_eq!(said(&fine), Vec::<String>::new());
        let many: Vec<String> = (0..100).map(|n| format!("FRAMEGATE_X{n}")).collect();
        assert_eq!(unknown(many.into_iter().map(OsString::from)).len(), WARNINGS_MAX);
        assert!(said(&[&format!("FRAMEGATE_{}", "X".repeat(10_000))])[0].contains("sets nothing"));
    }
}
