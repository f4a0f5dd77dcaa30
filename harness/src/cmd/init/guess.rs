//! Which rule an argument may need, by its name and type.

use framegate_guard::json::Value;

/// Names under which servers take files, and addresses.
const PATHS: [&str; 4] = ["path", "paths", "source", "destination"];
const ADDRESSES: [&str; 2] = ["uri", "url"];

/// An argument that names files or addresses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) is_list: bool,
    pub(super) is_required: bool,
}

impl Argument {
    /// Whether a rule over one reads the other.
    pub(super) fn is_same(&self, other: &Argument) -> bool {
        (self.name, self.is_list) == (other.name, other.is_list)
    }

    pub(super) fn is_address(&self) -> bool {
        ADDRESSES.contains(&self.name)
    }

    /// What must hold, with these roots or prefixes.
    pub(super) fn condition(&self, roots: &[String]) -> String {
        let of = |value: &str| match self.is_address() {
            true => format!("url_within({value}, [{}])", roots.join(", ")),
            false => format!("within({value}, {})", roots.join(", ")),
        };
        match self.is_list {
            true => format!("args.{}.all(one, {})", self.name, of("one")),
            false => of(&format!("args.{}", self.name)),
        }
    }
}

/// Of a tool's schema.
pub(super) fn arguments(schema: Option<Value<'_>>) -> Vec<Argument> {
    let Some(schema) = schema else { return Vec::new() };
    let is_required = |name: &str| {
        schema.get("required").is_some_and(|all| all.items().any(|one| one.as_str() == Some(name)))
    };
    let argument = |name: &'static str| {
        let kind = schema.get("properties")?.get(name)?.get("type")?;
        let is_list = match kind.as_str()? {
            "string" => false,
            "array" => true,
            _ => return None,
        };
        Some(Argument { name, is_list, is_required: is_required(name) })
    };
    PATHS.into_iter().chain(ADDRESSES).filter_map(argument).collect()
}
