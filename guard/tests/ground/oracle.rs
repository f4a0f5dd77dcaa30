//! What solvi 1.3.0 finds (`data/oracle/solvi_matcher.jsonl`): exactly the same, in code points.

use framegate_guard::ground::{Matcher, Prepared};
use framegate_guard::json::{Document, Limits, Value};

use super::twin;

fn row(line: &str) -> Document {
    Document::read(line.to_owned().into(), &Limits::default()).unwrap()
}

fn matcher(input: Value<'_>) -> Matcher {
    let text = |name| input.get(name).and_then(Value::as_str);
    Matcher {
        how: text("match").unwrap().parse().unwrap(),
        locale: text("locale").map(|locale| locale.parse().unwrap()),
    }
}

#[test]
fn finds_what_the_original_finds() {
    let mut wrong = Vec::new();
    let rows: Vec<&str> = include_str!("../data/oracle/solvi_matcher.jsonl").lines().collect();
    assert_eq!(rows.len(), 1095);
    for line in rows {
        let row = row(line);
        let input = row.root().get("input").unwrap();
        let text = input.get("text").and_then(Value::as_str).unwrap();
        let found = Prepared::new(text).find(&matcher(input), input.get("value").unwrap());
        let code_points: Vec<[usize; 2]> = found
            .iter()
            .map(|span| [span.start, span.end].map(|at| text.get(..at).unwrap().chars().count()))
            .collect();
        let ours = serde_json::json!(code_points);
        if ours != row.root().get("output").unwrap().to_serde() {
            wrong.push(format!("{ours} {line}"));
        }
        assert_eq!(found, twin::find(&matcher(input), text, input.get("value").unwrap()), "{line}");
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
