use proptest::prelude::*;

use super::*;

/// The stupid twin: tries everything.
fn naive(pattern: &[char], name: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|skip| naive(rest, &name[skip..])),
        Some(('?', rest)) => !name.is_empty() && naive(rest, &name[1..]),
        Some((c, rest)) => name.first() == Some(c) && naive(rest, &name[1..]),
    }
}

fn twin(pattern: &str, name: &str) -> bool {
    naive(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
}

fn glob(text: &str) -> Glob {
    Glob::parse(text).unwrap()
}

proptest! {
    #[test]
    fn matches_as_the_naive_twin(pattern in "[ab*?]{1,8}", name in "[abc]{0,10}") {
        prop_assert_eq!(Pattern::parse(&pattern).unwrap().matches(&name), twin(&pattern, &name));
    }

    #[test]
    fn a_common_name_matches_both(a in "[ab*?]{1,6}", b in "[ab*?]{1,6}", name in "[ab]{1,6}") {
        let common = glob(&a).common(&glob(&b), &mut Steps::default());
        if let Some(common) = &common {
            prop_assert!(twin(&a, common) && twin(&b, common), "{} {} {}", a, b, common);
        } else {
            prop_assert!(!(twin(&a, &name) && twin(&b, &name)), "{} {} {}", a, b, name);
        }
    }

    #[test]
    fn what_is_covered_matches(a in "[ab*?]{1,6}", b in "[ab*?]{1,6}", name in "[ab]{1,6}") {
        if glob(&a).covers(&glob(&b)) && twin(&b, &name) {
            prop_assert!(twin(&a, &name), "{} covers {} but not {}", a, b, name);
        }
    }
}

#[test]
fn more_literal_names_rank_higher() {
    let order =
        ["*", "?*", "r*", "read_*", "read_?*", "read_?", "*/read_?", "fs/read_?", "read_a", "fs/read_a"];
    for pair in order.windows(2) {
        assert!(glob(pair[0]).literalness() < glob(pair[1]).literalness(), "{pair:?}");
    }
    assert_eq!(glob("read_*").literalness(), glob("*_file").literalness());
}

#[test]
fn the_first_slash_parts_server_and_tool() {
    assert!(glob("fs/read").matches("fs", "read"));
    assert!(!glob("fs/read").matches("evil", "fs/read"));
    assert!(glob("*/fs/read").matches("evil", "fs/read"));
    assert!(glob("*").matches("evil", "fs/read"));
    assert_eq!(glob("fs/read_*").common(&glob("*_file"), &mut Steps::default()), Some("fs/read_file".into()));
}

#[test]
fn covering() {
    for (a, b, expected) in [
        ("*", "read", true),
        ("read_*", "read_file", true),
        ("read_*", "read_*_x", true),
        ("read_?", "read_*", false),
        ("*?", "?*", true),
        ("fs/*", "*", false),
        ("*", "fs/*", true),
    ] {
        assert_eq!(glob(a).covers(&glob(b)), expected, "{a} {b}");
    }
}

#[test]
fn patterns_have_a_longest() {
    assert!(Glob::parse(&"a".repeat(PATTERN_BYTES_MAX)).is_ok());
    assert_eq!(Glob::parse(&"a".repeat(PATTERN_BYTES_MAX + 1)), Err(GlobError::TooLong));
    for empty in ["", "/", "a/", "/a"] {
        assert_eq!(Glob::parse(empty), Err(GlobError::Empty));
    }
}

#[test]
fn stars_do_not_multiply_the_work() {
    assert!(!Pattern::parse(&"a*".repeat(128)).unwrap().matches(&"a".repeat(127)));
    assert!(!Pattern::parse(&("*a".repeat(120) + "b")).unwrap().matches(&"a".repeat(100_000)));
}

#[test]
fn comparing_ends_when_its_steps_are_used_up() {
    let (a, b) = (glob("a*b*c"), glob("*a*c"));
    let needed = (0..100).find(|steps| a.common(&b, &mut Steps(*steps)).is_some()).unwrap();
    assert_eq!(a.common(&b, &mut Steps(needed - 1)), None);
    assert_eq!(a.common(&b, &mut Steps(needed + 1)), Some("abc".into()));
}
