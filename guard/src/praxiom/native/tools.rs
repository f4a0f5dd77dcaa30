//! Globs over `server__tool` as patterns over the tools of one server.
//!
//! What is left of a glob once the server's name is taken off are one or more globs over the tool's own name, since a
//! star may end anywhere in it. Patterns of our own know `*` and `?` only: a set of characters becomes `?`, and a
//! condition on the name says the rest.

use super::super::glob::{Glob, Part};

/// The tools of an action.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tools {
    /// `server/pattern`, each once.
    pub(super) patterns: Vec<String>,
    /// What of it the patterns alone do not say, as CEL over `server` and `tool`; nothing where they say all.
    pub(super) exact: Option<String>,
    /// The same, always said.
    pub(super) condition: String,
}

impl Tools {
    /// Those that globs cover on these servers.
    pub(super) fn of(globs: &[Glob], servers: &[String]) -> Tools {
        let (mut patterns, mut conditions, mut is_exact) = (Vec::new(), Vec::new(), true);
        for server in servers {
            let (mut plain, mut odd) = (Vec::new(), Vec::new());
            let prefix = format!("{server}__");
            for parts in globs.iter().flat_map(|glob| glob.after(&prefix)) {
                let pattern: String = parts.iter().map(pattern).collect();
                let whole = format!("{server}/{pattern}");
                if patterns.contains(&whole) {
                    continue;
                }
                patterns.push(whole);
                match parts.iter().all(is_plain) {
                    true => plain.push(pattern),
                    false => odd.push(format!("matches(tool, {})", super::text(&regex(parts)))),
                }
            }
            is_exact &= odd.is_empty();
            if !plain.is_empty() {
                let list: Vec<String> = plain.iter().map(|pattern| super::text(pattern)).collect();
                odd.insert(0, format!("glob(tool, [{}])", list.join(", ")));
            }
            if !odd.is_empty() {
                conditions.push(match servers {
                    [_] => odd.join(" || "),
                    _ => format!("(server == {} && ({}))", super::text(server), odd.join(" || ")),
                });
            }
        }
        let condition = conditions.join(" || ");
        Tools { patterns, exact: (!is_exact).then(|| condition.clone()), condition }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Both together.
    pub(super) fn and(&self, other: &Tools) -> Tools {
        let mut both = self.clone();
        both.patterns
            .extend(other.patterns.iter().filter(|pattern| !self.patterns.contains(pattern)).cloned());
        both.condition = format!("({}) || ({})", self.condition, other.condition);
        let is_exact = self.exact.is_none() && other.exact.is_none();
        both.exact = (!is_exact).then(|| both.condition.clone());
        both
    }
}

/// A slash divides server and tool in a pattern of our own, and a blank or a bracket is none of its characters.
fn is_plain(part: &Part) -> bool {
    match part {
        Part::Any | Part::Star => true,
        Part::Char(c) => is_name(*c),
        Part::Set { .. } => false,
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')
}

fn pattern(part: &Part) -> char {
    match part {
        Part::Star => '*',
        Part::Char(c) if is_name(*c) => *c,
        Part::Any | Part::Char(_) | Part::Set { .. } => '?',
    }
}

/// The glob as a regular expression over the whole name.
fn regex(parts: &[Part]) -> String {
    let escaped = |c: char| regex::escape(&c.to_string());
    let mut out = String::from("^(?s)");
    for part in parts {
        match part {
            Part::Star => out.push_str(".*"),
            Part::Any => out.push('.'),
            Part::Char(c) => out.push_str(&escaped(*c)),
            // A negated set of nothing is everything.
            Part::Set { negated: true, ranges } if ranges.is_empty() => out.push('.'),
            Part::Set { negated, ranges } => {
                let code = |c: char| format!("\\x{{{:x}}}", u32::from(c));
                let range = |(low, high): &(char, char)| match low == high {
                    true => code(*low),
                    false => format!("{}-{}", code(*low), code(*high)),
                };
                let ranges: String = ranges.iter().map(range).collect();
                out.push_str(&format!("[{}{ranges}]", if *negated { "^" } else { "" }));
            }
        }
    }
    out.push('$');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(globs: &[&str], servers: &[&str]) -> Tools {
        let globs: Vec<Glob> = globs.iter().map(|glob| Glob::new(glob).unwrap()).collect();
        Tools::of(&globs, &servers.iter().map(|server| (*server).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_server_is_taken_off_a_glob() {
        for (glob, patterns) in [
            ("fs__read*", &["fs/read*"][..]),
            ("*", &["fs/*"]),
            ("*__read", &["fs/*__read", "fs/_read", "fs/read"]),
            ("f?__x", &["fs/x"]),
            ("fs_*", &["fs/*"]),
            ("other__*", &[]),
            ("fs__[z-a]", &[]),
        ] {
            let found = tools(&[glob], &["fs"]);
            assert_eq!(found.patterns, patterns, "{glob}");
            assert_eq!(found.exact, None, "{glob}");
        }
        let odd = tools(&["fs__[!a-c]x", "fs__y"], &["fs"]);
        assert_eq!(odd.patterns, ["fs/?x", "fs/y"]);
        assert_eq!(odd.exact.unwrap(), r#"glob(tool, ["y"]) || matches(tool, "^(?s)[^\\x{61}-\\x{63}]x$")"#);
        let two = tools(&["*__read"], &["fs", "web"]);
        assert_eq!(
            two.patterns,
            ["fs/*__read", "fs/_read", "fs/read", "web/*__read", "web/_read", "web/read"]
        );
        assert_eq!(
            two.condition,
            r#"(server == "fs" && (glob(tool, ["*__read", "_read", "read"]))) || (server == "web" && (glob(tool, ["*__read", "_read", "read"])))"#
        );
    }
}
