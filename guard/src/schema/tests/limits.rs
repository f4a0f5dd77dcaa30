//! What a schema may cost, below, at and above each limit.

use super::*;
use std::time::{Duration, Instant};

/// `n` definitions, each two alternatives of the next one: 2ⁿ ways.
fn doubling(n: usize) -> String {
    let link = |i: usize| {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, i + 1);
        format!(r#""d{i}":{{"anyOf":[{next},{next}]}},"#)
    };
    let links: String = (0..n).map(link).collect();
    format!(
        r##"{{"$defs":{{{links}"d{n}":{{"type":"string"}}}},"properties":{{"a":{{"$ref":"#/$defs/d0"}}}}}}"##
    )
}

/// A schema whose estimate is exactly `1 + branches`.
fn wide(branches: u64) -> String {
    let all: Vec<&str> = (0..branches).map(|_| "true").collect();
    format!(r#"{{"anyOf":[{}]}}"#, all.join(","))
}

#[test]
fn two_kilobytes_that_would_take_seconds_are_refused() {
    let text = doubling(30);
    assert!(text.len() < 2300);
    assert!(
        matches!(refused(&text), SchemaError::Explodes { estimate, limit: EXPANSION_MAX } if estimate > 1 << 30)
    );
    let huge = refused(&doubling(200));
    assert!(matches!(huge, SchemaError::Explodes { estimate: u64::MAX, .. }), "{huge:?}");
}

#[test]
fn the_expansion_limit_is_exact() {
    // The root's branches share one node: `GRAPH_MAX` does not interfere.
    let shared = |branches: u64| {
        let all: Vec<&str> = (0..branches).map(|_| r##"{"$ref":"#/$defs/x"}"##).collect();
        format!(
            r##"{{"$defs":{{"x":{{"anyOf":[{}]}}}},"anyOf":[{}]}}"##,
            vec!["true"; 99].join(","),
            all.join(",")
        )
    };
    // Each branch: itself, the definition, its 99 alternatives.
    assert_eq!(schema(&shared(100)).estimate(), 1 + 100 * 101);
    assert_eq!(schema(&shared(495)).estimate(), EXPANSION_MAX - 4);
    let pad =
        |extra: &str| shared(495).replacen(r#""anyOf":[{"$ref""#, &format!(r#""anyOf":[{extra}{{"$ref""#), 1);
    assert_eq!(schema(&pad(&"true,".repeat(4))).estimate(), EXPANSION_MAX);
    assert_eq!(
        refused(&pad(&"true,".repeat(5))),
        SchemaError::Explodes { estimate: EXPANSION_MAX + 1, limit: EXPANSION_MAX }
    );
}

#[test]
fn expensive_begins_at_its_limit() {
    // The list and its items: so many evaluations each.
    let items =
        |work: u64| document(&format!("[{}]", vec!["1"; usize::try_from(work / 100).unwrap() - 1].join(",")));
    let cheap = schema(&wide(99));
    for (work, is_expensive) in
        [(WORK_ON_THREAD_MAX - 100, false), (WORK_ON_THREAD_MAX, false), (WORK_ON_THREAD_MAX + 100, true)]
    {
        let items = items(work);
        assert_eq!(cheap.work(items.root()), work);
        assert_eq!(cheap.is_expensive_for(items.root()), is_expensive, "{work}");
    }
    let small = document("{}");
    let linear = schema(r#"{"properties":{"a":{"type":"string","pattern":"^(a|b)[^?=]+$"}}}"#);
    assert!(!linear.is_expensive_for(small.root()));
    for pattern in ["^(?!x)", "(?<=a)b", r"(.)\\1"] {
        for text in [
            format!(r#"{{"items":{{"pattern":"{pattern}"}}}}"#),
            format!(r#"{{"patternProperties":{{"{pattern}":true}}}}"#),
        ] {
            assert!(schema(&text).is_expensive_for(small.root()), "{pattern}");
        }
    }
}

#[test]
fn values_times_alternatives_are_bounded() {
    let wide =
        schema(&format!(r#"{{"items":{{"anyOf":[{}]}}}}"#, vec![r#"{"type":"integer"}"#; 498].join(",")));
    assert_eq!(wide.estimate(), 500);
    let integers =
        |work: u64| document(&format!("[{}]", vec!["7"; usize::try_from(work / 500).unwrap() - 1].join(",")));
    assert!(wide.check(integers(WORK_MAX).root()).is_empty());
    let wrong = wide.check(integers(WORK_MAX + 500).root());
    assert_eq!(wrong[0].expected, "at most 40000 values: the schema looks at each 500 times");
    assert!(!wide.accepts(integers(WORK_MAX + 500).root()));
    // A call of 49 KB under `arguments: coerce` took 12 s in a debug build.
    let texts = document(&format!("[{}]", vec![r#""7""#; 24_000].join(",")));
    let start = Instant::now();
    assert!(coerce(&wide, texts.root()).edits.is_empty());
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let few = document(&format!("[{}]", vec![r#""7""#; 100].join(",")));
    assert_eq!(coerce(&wide, few.root()).edits.len(), 100);
}

#[test]
fn names_that_are_looked_up_count() {
    let names: Vec<String> = (0..800).map(|n| format!(r#""n{n}""#)).collect();
    assert_eq!(schema(&format!(r#"{{"required":[{}]}}"#, names.join(","))).estimate(), 101);
    let one_each: Vec<String> = names.iter().map(|name| format!(r#"{name}:["x"]"#)).collect();
    assert_eq!(schema(&format!(r#"{{"dependentRequired":{{{}}}}}"#, one_each.join(","))).estimate(), 201);
}

#[test]
fn what_is_adopted_is_checked_in_time() {
    let worst = schema(&doubling(12));
    let start = Instant::now();
    assert_eq!(worst.check(document(r#"{"a":1}"#).root()).len(), 1);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn alternatives_that_recur_are_bounded_by_the_values_depth() {
    let union = r##"{"anyOf":[{"type":"string"},
        {"type":"object","required":["x"],"properties":{"x":{"$ref":"#"}}},
        {"type":"object","required":["x"],"properties":{"x":{"$ref":"#"},"y":true}}]}"##;
    let adopted = schema(union);
    let nested = |depth: usize| document(&format!("{}1{}", r#"{"x":"#.repeat(depth), "}".repeat(depth)));
    let max = adopted.cost.depth_max;
    assert!((DEPTH_ADOPTED..DEPTH_MAX).contains(&max), "{max}");
    let start = Instant::now();
    let deep = adopted.check(nested(max + 1).root());
    assert_eq!(deep[0].expected, format!("at most {max} levels of nesting"));
    assert_eq!(adopted.check(nested(max).root()).len(), 1);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_tree_is_checked_to_the_full_depth() {
    let tree =
        schema(r##"{"type":"object","properties":{"child":{"$ref":"#"},"value":{"type":"integer"}}}"##);
    let nested = |depth: usize, leaf: &str| {
        document(&format!("{}{leaf}{}", r#"{"child":"#.repeat(depth - 1), "}".repeat(depth - 1)))
    };
    assert!(tree.check(nested(DEPTH_MAX - 1, r#"{"value":1}"#).root()).is_empty());
    assert!(tree.check(nested(DEPTH_MAX, r#"{"value":1}"#).root()).is_empty());
    assert!(!tree.check(nested(DEPTH_MAX, r#"{"value":"x"}"#).root()).is_empty());
    let limits = Limits { depth: DEPTH_MAX + 1, ..Limits::default() };
    let text = format!("{}{{}}{}", r#"{"child":"#.repeat(DEPTH_MAX), "}".repeat(DEPTH_MAX));
    let deeper = Document::read(text.into(), &limits).unwrap();
    assert_eq!(tree.check(deeper.root())[0].got, format!("{} levels", DEPTH_MAX + 1));
}

/// A list whose next element is reached over `links` references: a long way at every level.
fn long_way(links: usize) -> String {
    let link = |i: usize| format!(r##""d{i}":{{"allOf":[{{"$ref":"#/$defs/d{}"}}]}},"##, i + 1);
    let links_text: String = (0..links).map(link).collect();
    format!(
        r##"{{"$defs":{{{links_text}"d{links}":{{"properties":{{"x":{{"$ref":"#/$defs/d0"}}}}}}}},"$ref":"#/$defs/d0"}}"##
    )
}

#[test]
fn the_longest_chain_fits_a_small_stack() {
    // The default of a spawned thread is 2 MiB.
    let check = || {
        for links in [1, 2, 4, 8, 16, 31, 200, 300] {
            let Ok(adopted) = Schema::compile(document(&long_way(links)).root()) else { continue };
            let depth = adopted.cost.depth_max;
            let text = format!("{}1{}", r#"{"x":"#.repeat(depth), "}".repeat(depth));
            assert!(adopted.check(document(&text).root()).is_empty(), "{links}");
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(check).unwrap().join().unwrap();
    assert!(matches!(refused(&long_way(400)), SchemaError::TooLarge(_)));
    // A chain that no value lengthens: exactly at the limit, and one more.
    let straight = |links: usize| {
        let link = |i: usize| format!(r##""d{i}":{{"$ref":"#/$defs/d{}"}},"##, i + 1);
        let all: String = (0..links).map(link).collect();
        format!(r##"{{"$defs":{{{all}"d{links}":true}},"$ref":"#/$defs/d0"}}"##)
    };
    let links = CHAIN_MAX as usize - 2;
    assert!(fits(&straight(links - 1), "1"));
    assert!(fits(&straight(links), "1"));
    assert!(matches!(refused(&straight(links + 1)), SchemaError::TooLarge(_)));
}

#[test]
fn a_reference_to_itself_is_refused() {
    for text in [
        r##"{"$ref":"#"}"##,
        r##"{"anyOf":[{"type":"string"},{"$ref":"#"}]}"##,
        r##"{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}"##,
    ] {
        assert!(matches!(refused(text), SchemaError::Endless(_)), "{text}");
    }
}

#[test]
fn size_and_depth_of_a_schema_are_bounded() {
    let sized = |bytes: usize| format!(r#"{{"description":"{}"}}"#, "x".repeat(bytes - 18));
    assert!(fits(&sized(SCHEMA_BYTES_MAX - 1), "1") && fits(&sized(SCHEMA_BYTES_MAX), "1"));
    assert!(matches!(refused(&sized(SCHEMA_BYTES_MAX + 1)), SchemaError::TooLarge(_)));
    let nested = |depth: usize| format!("{}true{}", r#"{"not":"#.repeat(depth), "}".repeat(depth));
    let on_a_small_stack = move || {
        let limits = Limits { depth: DEPTH_MAX + 1, ..Limits::default() };
        for (depth, adopted) in [(DEPTH_MAX - 1, true), (DEPTH_MAX, true), (DEPTH_MAX + 1, false)] {
            let schema = Document::read(nested(depth).into(), &limits).unwrap();
            assert_eq!(Schema::compile(schema.root()).is_ok(), adopted, "{depth}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(on_a_small_stack).unwrap().join().unwrap();
    let subschemas = |count: usize| {
        let all: Vec<String> = (0..count - 1).map(|i| format!(r#""p{i}":{{}}"#)).collect();
        format!(r#"{{"properties":{{{}}}}}"#, all.join(","))
    };
    assert!(fits(&subschemas(GRAPH_MAX - 1), "{}") && fits(&subschemas(GRAPH_MAX), "{}"));
    assert!(matches!(refused(&subschemas(GRAPH_MAX + 1)), SchemaError::TooLarge(_)));
}

#[test]
fn many_wrong_items_are_told_in_time() {
    let schema = schema(r#"{"items":{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}}"#);
    let many = document(&format!("[{}1]", "1,".repeat(300_000)));
    let start = Instant::now();
    assert_eq!(schema.check(many.root()).len(), 1);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
