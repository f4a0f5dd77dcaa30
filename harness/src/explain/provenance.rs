//! The options about where values come from, as the policy writes them.

use framegate_guard::ground::Matcher;
use framegate_guard::policy::provenance::{Confirm, Ground, Request, ToolValues, instructions_name};
use framegate_guard::policy::{Otherwise, Provenance};
use framegate_guard::words::Intent;
use serde_json::{Map, Value, json};

/// All of them by key.
pub(super) fn json(options: &Provenance) -> Map<String, Value> {
    let named = options.ground.named.iter().map(|(name, ground)| (name.clone(), grounded(ground)));
    let others = options.ground.others.iter().map(|ground| ("*".to_owned(), grounded(ground)));
    let free = options.ground.free.iter().map(|name| (name.clone(), "off".into()));
    let ground: Map<String, Value> = named.chain(others).chain(free).collect();
    let mut all = Map::new();
    all.insert("ground".into(), ground.into());
    all.insert("tool_values".into(), tool_values(options.tool_values).into());
    all.insert("instructions".into(), instructions_name(options.instructions()).into());
    all.insert("once".into(), options.once.into());
    all.insert("confirm".into(), options.confirm.as_ref().map_or(Value::Bool(false), confirm));
    all.insert("require_request".into(), options.request.as_ref().map_or(Value::Bool(false), request));
    all.insert("scan_user".into(), options.scan_user.into());
    all.insert("authorize".into(), options.authorize.into());
    all.insert("acts".into(), options.acts.into());
    all
}

/// Those that are set, for people.
pub(super) fn text(options: &Provenance) -> Option<String> {
    let standard = json(&Provenance::default());
    let mut set = json(options);
    set.retain(|key, value| standard.get(key) != Some(value));
    let parts: Vec<String> = set.iter().map(|(key, value)| format!("{key} {value}")).collect();
    (!parts.is_empty()).then(|| format!("  {}", parts.join(", ")))
}

fn grounded(ground: &Ground) -> Value {
    let mut one = match &ground.program {
        Some(program) => [("program".to_owned(), Value::from(&**program))].into_iter().collect(),
        None => matcher(&ground.matcher),
    };
    let facts = ground.from.facts.then_some("facts");
    one.insert("from".into(), ground.from.names().chain(facts).collect());
    one.extend(ground.last.map(|last| ("last".to_owned(), last.into())));
    one.insert("otherwise".into(), otherwise(ground.otherwise).into());
    Value::Object(one)
}

fn matcher(matcher: &Matcher) -> Map<String, Value> {
    let mut one = Map::new();
    one.insert("match".into(), matcher.how.to_string().into());
    one.extend(matcher.locale.map(|locale| ("locale".to_owned(), locale.to_string().into())));
    one
}

fn confirm(confirm: &Confirm) -> Value {
    let mut one = matcher(&confirm.matcher);
    if !confirm.matchers.is_empty() {
        let by_argument =
            confirm.matchers.iter().map(|(name, matcher)| (name.clone(), matcher.how.to_string().into()));
        one.insert("match".into(), Value::Object(by_argument.collect()));
    }
    one.insert("otherwise".into(), otherwise(confirm.otherwise).into());
    one.extend(confirm.arguments.as_ref().map(|names| ("arguments".to_owned(), json!(names))));
    one.extend(confirm.last.map(|last| ("last".to_owned(), last.into())));
    if !confirm.named.is_empty() {
        let named = confirm
            .named
            .iter()
            .map(|(name, naming)| (name.clone(), naming.expression().map(|naming| naming.source()).into()));
        one.insert("named".into(), Value::Object(named.collect()));
    }
    Value::Object(one)
}

fn request(request: &Request) -> Value {
    let (intents, phrases): (Vec<&str>, Vec<&str>) =
        request.intents.iter().map(Intent::name).partition(|name| Intent::named(name).is_some());
    json!({ "intents": intents, "phrases": phrases, "otherwise": otherwise(request.otherwise) })
}

fn tool_values(values: ToolValues) -> &'static str {
    match values {
        ToolValues::Ask => "ask",
        ToolValues::Deny => "deny",
    }
}

fn otherwise(otherwise: Otherwise) -> &'static str {
    match otherwise {
        Otherwise::Ask => "ask",
        Otherwise::Deny => "deny",
    }
}
