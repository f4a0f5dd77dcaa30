//! A policy of praxiom in front of a server: what must be known before it can decide, and what becomes of its state when
//! another policy takes its place.

use framegate_guard::policy::Policy;
use framegate_guard::praxiom::Praxiom;

use crate::explain::event::listed;

/// Such a policy names tools with their server before them: under another name nothing in it would be about any, and by
/// its default every call would pass.
///
/// `is_named`: somebody said what the server is called.
///
/// # Errors
/// What is missing, for people.
pub(crate) fn is_for_server(policy: &Policy, (server, is_named): (&str, bool)) -> Result<(), String> {
    let Some(praxiom) = policy.praxiom() else { return Ok(()) };
    if is_named {
        return policy.unmatched(server).map_or(Ok(()), |problem| Err(problem.to_string()));
    }
    let servers = praxiom.servers();
    let example = servers.first().map_or("NAME", String::as_str);
    let known = match servers.as_slice() {
        [] => String::new(),
        all => format!(" (its globs begin with `{}`)", all.join("__`, `") + "__"),
    };
    Err(format!(
        "the policy `{}` is one of praxiom, which calls a tool by its server's name and its own, `{example}__TOOL`{known}: \
         say what this server is called there: framegate run --name {example} …",
        policy.name()
    ))
}

/// What becomes of the state that calls have made so far; nothing where neither policy has one.
pub(crate) fn state_kept(before: &Policy, now: &Policy) -> Option<String> {
    match (before.praxiom(), now.praxiom()) {
        (None, None) => None,
        (Some(before), Some(now)) => between(before, now),
        (Some(before), None) => forgotten(before).map(|gone| {
            format!("the state of the policy before is not carried over to one of another format: {gone} is forgotten")
        }),
        (None, Some(now)) => {
            let all = forgotten(now)?;
            Some(format!("the policy is of another format than the one before: {all} begins at its initial value"))
        }
    }
}

fn between(before: &Praxiom, now: &Praxiom) -> Option<String> {
    let old: Vec<_> = before.variables().collect();
    let new: Vec<_> = now.variables().collect();
    let named = |all: &[(&str, _)], other: &[(&str, _)], is_in: bool| {
        let names = all.iter().filter(|variable| other.contains(variable) == is_in);
        listed(&names.map(|(name, _)| *name).collect::<Vec<_>>())
    };
    let parts = [
        (named(&new, &old, true), "kept"),
        (named(&new, &old, false), "begun at the initial value"),
        (named(&old, &new, false), "forgotten"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, how)| format!("{how}: {names}"))
        .collect();
    (!said.is_empty()).then(|| format!("the state's variables, by name and type: {}", said.join("; ")))
}

fn forgotten(policy: &Praxiom) -> Option<String> {
    let names: Vec<&str> = policy.variables().map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| listed(&names))
}

#[cfg(test)]
mod tests {
    use framegate_guard::praxiom::Dialect;

    use super::*;

    fn policy(text: &str) -> Policy {
        let loaded = Policy::load_in(Dialect::Safe, "p.yaml", text.as_bytes(), &mut |_| Err(String::new()));
        loaded.unwrap_or_else(|errors| panic!("{errors}")).policy
    }

    fn with(state: &str, glob: &str) -> Policy {
        policy(&format!(
            "state: {{ {state} }}\nactions:\n  - {{ name: a, match: '{glob}', requires: 'true' }}\n"
        ))
    }

    #[test]
    fn a_name_must_be_given_and_must_be_one_that_the_globs_can_mean() {
        let of = |glob: &str, name: (&str, bool)| is_for_server(&with("", glob), name);
        assert_eq!(of("fs__*", ("fs", true)), Ok(()));
        assert_eq!(of("*__write*", ("anything", true)), Ok(()));
        let said = of("fs__*", ("files", true)).unwrap_err();
        assert!(said.contains("no action can match any tool of `files`: to this policy they are called `files__…`, and its globs are `fs__*`"), "{said}");
        assert!(said.contains("p.yaml:3:"), "with its place: {said}");
        assert_eq!(
            of("fs__*", ("node-1a2b", false)).unwrap_err(),
            "the policy `p.yaml` is one of praxiom, which calls a tool by its server's name and its own, `fs__TOOL` (its \
             globs begin with `fs__`): say what this server is called there: framegate run --name fs …"
        );
        assert!(of("*", ("node-1a2b", false)).unwrap_err().ends_with("framegate run --name NAME …"));
        assert_eq!(is_for_server(&policy("framegate: 1\ndefault: allow\n"), ("node-1a2b", false)), Ok(()));
    }

    #[test]
    fn a_policy_that_takes_anothers_place_says_what_becomes_of_the_state() {
        let old =
            with("a: { type: int, init: 0 }, b: { type: bool, init: false }, c: { type: int, init: 0 }", "*");
        let new =
            with("d: { type: int, init: 0 }, c: { type: bool, init: false }, a: { type: int, init: 5 }", "*");
        assert_eq!(
            state_kept(&old, &new).unwrap(),
            "the state's variables, by name and type: kept: `a`; begun at the initial value: `d`, `c`; forgotten: `b`, `c`"
        );
        assert_eq!(state_kept(&with("", "*"), &with("", "*")), None);
        let native = policy("framegate: 1\ndefault: allow\n");
        assert!(state_kept(&old, &native).unwrap().ends_with("`a`, `b`, `c` is forgotten"));
        assert!(state_kept(&native, &new).unwrap().ends_with("`d`, `c`, `a` begins at its initial value"));
        assert_eq!(state_kept(&native, &native), None);
    }
}
