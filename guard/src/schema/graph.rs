//! The schema as a graph: which subschemas look at the same value, which at its parts.
//!
//! Built from what can be reached from the root. Where a reference is not plain (relative to an `$id`, dynamic),
//! every subschema it could mean counts: the estimate may be too high, never too low.

use super::expansion::GRAPH_MAX;
use super::{SchemaError, mismatch};
use crate::json::{Kind, Value};
use jsonschema::Draft;
use std::collections::HashMap;

/// Index of a subschema in [`Graph::nodes`].
pub(super) type NodeId = usize;

/// One subschema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Subschemas that look at the same value.
    pub(super) same: Vec<NodeId>,
    /// One of each of these looks at the same value; which one is only known while validating.
    pub(super) same_one_of: Vec<Vec<NodeId>>,
    /// One of these looks at a member, by its name.
    pub(super) member_one_of: Vec<NodeId>,
    /// Each of these may look at a member.
    pub(super) member_each: Vec<NodeId>,
    /// One of these looks at an item, by its position.
    pub(super) item_one_of: Vec<NodeId>,
    /// Each of these may look at an item.
    pub(super) item_each: Vec<NodeId>,
    /// `unevaluatedProperties` or `unevaluatedItems`: the subschemas in place are asked again.
    pub(super) asks_again: bool,
    /// Names that are looked up in an object one by one: `required` and what depends.
    pub(super) names: u64,
    /// For messages.
    pub(super) offset: usize,
}

impl Node {
    /// The subschema at that position among those that look at the same value.
    pub(super) fn in_place(&self, position: usize) -> Option<NodeId> {
        let listed = self.same.get(position).copied();
        let further = || {
            let beyond = position.checked_sub(self.same.len())?;
            self.same_one_of.iter().flatten().nth(beyond).copied()
        };
        listed.or_else(further)
    }
}

/// All subschemas that can be reached; the root is node 0.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

struct Builder<'a> {
    draft: Draft,
    graph: Graph,
    ids: HashMap<u32, NodeId>,
    /// Reached, edges not yet known; with the resource (the nearest `$id`) each belongs to.
    open: Vec<(NodeId, Value<'a>, Value<'a>)>,
    resources: Vec<(&'a str, Value<'a>)>,
    anchors: Vec<(&'a str, Value<'a>)>,
    recursive: Vec<Value<'a>>,
}

impl Graph {
    /// # Errors
    /// [`SchemaError::TooLarge`], [`SchemaError::Unresolved`].
    pub(super) fn build(root: Value<'_>, draft: Draft) -> Result<Graph, SchemaError> {
        let mut builder = Builder {
            draft,
            graph: Graph::default(),
            ids: HashMap::new(),
            open: Vec::new(),
            resources: Vec::new(),
            anchors: Vec::new(),
            recursive: Vec::new(),
        };
        builder.collect_names(root);
        builder.reach(root, root)?;
        while let Some((id, schema, resource)) = builder.open.pop() {
            let node = builder.edges(schema, resource)?;
            if let Some(slot) = builder.graph.nodes.get_mut(id) {
                *slot = node;
            }
        }
        Ok(builder.graph)
    }
}

impl<'a> Builder<'a> {
    /// Every object that names itself, wherever it stands.
    fn collect_names(&mut self, root: Value<'a>) {
        for object in root.document().all().filter(|value| value.kind() == Kind::Object) {
            for (name, value) in object.members() {
                match (name, value.as_str()) {
                    ("$id" | "id", Some(id)) => self.resources.push((id, object)),
                    ("$anchor" | "$dynamicAnchor", Some(anchor)) => self.anchors.push((anchor, object)),
                    ("$recursiveAnchor", None) => self.recursive.push(object),
                    _ => {}
                }
            }
        }
        // `#name` as `$id` is an anchor in drafts 4 to 7.
        let named = self.resources.iter().filter_map(|(id, object)| Some((id.strip_prefix('#')?, *object)));
        self.anchors.extend(named.collect::<Vec<_>>());
    }

    fn reach(&mut self, schema: Value<'a>, resource: Value<'a>) -> Result<NodeId, SchemaError> {
        if let Some(known) = self.ids.get(&schema.ordinal()) {
            return Ok(*known);
        }
        let id = self.graph.nodes.len();
        if id >= GRAPH_MAX {
            return Err(SchemaError::TooLarge(format!("more than {GRAPH_MAX} subschemas")));
        }
        let own =
            |name| schema.get(name).is_some_and(|id| id.as_str().is_some_and(|id| !id.starts_with('#')));
        let is_resource = own(self.draft.id_keyword());
        self.ids.insert(schema.ordinal(), id);
        self.graph.nodes.push(Node::default());
        self.open.push((id, schema, if is_resource { schema } else { resource }));
        Ok(id)
    }

    fn reach_all(
        &mut self,
        schemas: impl Iterator<Item = Value<'a>>,
        resource: Value<'a>,
        into: &mut Vec<NodeId>,
    ) -> Result<(), SchemaError> {
        for schema in schemas.filter(|schema| matches!(schema.kind(), Kind::Object | Kind::Bool)) {
            into.push(self.reach(schema, resource)?);
        }
        Ok(())
    }

    fn edges(&mut self, schema: Value<'a>, resource: Value<'a>) -> Result<Node, SchemaError> {
        let mut node = Node { offset: schema.span().start, ..Node::default() };
        for (keyword, value) in schema.members() {
            node.names = node.names.saturating_add(names_of(keyword, value));
            let one = || std::iter::once(value);
            let members = || value.members().map(|(_, schema)| schema);
            match keyword {
                "allOf" | "anyOf" | "oneOf" => self.reach_all(value.items(), resource, &mut node.same)?,
                "not" | "if" | "then" | "else" => self.reach_all(one(), resource, &mut node.same)?,
                // `type` of draft 3 and of some generators holds schemas; `disallow`, `extends` likewise.
                "dependentSchemas" | "dependencies" => self.reach_all(members(), resource, &mut node.same)?,
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    let targets = self.targets(keyword, value, resource)?;
                    let mut meant = Vec::with_capacity(targets.len());
                    self.reach_all_in(targets, &mut meant)?;
                    meant.sort_unstable();
                    meant.dedup();
                    node.same_one_of.push(meant);
                }
                "properties" => self.reach_all(members(), resource, &mut node.member_one_of)?,
                "additionalProperties" => self.reach_all(one(), resource, &mut node.member_one_of)?,
                "patternProperties" => self.reach_all(members(), resource, &mut node.member_each)?,
                "propertyNames" => self.reach_all(one(), resource, &mut node.member_each)?,
                "unevaluatedProperties" => {
                    node.asks_again = true;
                    self.reach_all(one(), resource, &mut node.member_each)?;
                }
                "items" if value.kind() == Kind::Array => {
                    self.reach_all(value.items(), resource, &mut node.item_one_of)?;
                }
                "prefixItems" => self.reach_all(value.items(), resource, &mut node.item_one_of)?,
                "items" | "additionalItems" => self.reach_all(one(), resource, &mut node.item_one_of)?,
                "contains" => self.reach_all(one(), resource, &mut node.item_each)?,
                "unevaluatedItems" => {
                    node.asks_again = true;
                    self.reach_all(one(), resource, &mut node.item_each)?;
                }
                _ => {}
            }
        }
        Ok(node)
    }

    fn reach_all_in(
        &mut self,
        targets: Vec<(Value<'a>, Value<'a>)>,
        into: &mut Vec<NodeId>,
    ) -> Result<(), SchemaError> {
        for (target, resource) in targets {
            into.push(self.reach(target, resource)?);
        }
        Ok(())
    }

    /// What a reference can mean, each with its resource.
    fn targets(
        &self,
        keyword: &str,
        reference: Value<'a>,
        resource: Value<'a>,
    ) -> Result<Vec<(Value<'a>, Value<'a>)>, SchemaError> {
        let Some(reference) = reference.as_str() else { return Ok(Vec::new()) };
        let unresolved = || SchemaError::Unresolved(mismatch::clip(reference));
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resources: Vec<Value<'a>> = match base {
            "" => vec![resource],
            // The validator brings the drafts' own schemas; they are small.
            _ if Draft::from_schema_uri(base) != Draft::Unknown => return Ok(Vec::new()),
            _ => self.resources.iter().filter(|(id, _)| may_mean(base, id)).map(|(_, at)| *at).collect(),
        };
        let mut targets: Vec<(Value<'a>, Value<'a>)> =
            resources.iter().filter_map(|within| locate(*within, fragment)).collect();
        if !fragment.is_empty() && !fragment.starts_with('/') {
            targets
                .extend(self.anchors.iter().filter(|(name, _)| *name == fragment).map(|(_, at)| (*at, *at)));
        }
        if keyword == "$recursiveRef" {
            targets.extend(self.recursive.iter().map(|at| (*at, *at)));
        }
        if targets.is_empty() { Err(unresolved()) } else { Ok(targets) }
    }
}

/// Names that a keyword looks up in an object.
fn names_of(keyword: &str, value: Value<'_>) -> u64 {
    let count = match keyword {
        "required" => value.len(),
        "dependentRequired" | "dependentSchemas" | "dependencies" => value
            .members()
            .map(|(_, names)| 1 + if names.kind() == Kind::Array { names.len() } else { 0 })
            .sum(),
        _ => 0,
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Whether a reference could lead to that `$id`: told by the last segment of both.
fn may_mean(base: &str, id: &str) -> bool {
    let last = |uri: &str| {
        let uri = uri.split('#').next().unwrap_or(uri);
        uri.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(uri).to_owned()
    };
    last(base) == last(id)
}

/// The value at a JSON Pointer given as a fragment, and the resource it lies in.
fn locate<'a>(resource: Value<'a>, fragment: &str) -> Option<(Value<'a>, Value<'a>)> {
    let mut at = (resource, resource);
    if fragment.is_empty() {
        return Some(at);
    }
    for segment in fragment.strip_prefix('/')?.split('/') {
        let name = super::shape::unescape(segment);
        let value = match at.0.kind() {
            Kind::Object => at.0.get(&name),
            Kind::Array => name.parse().ok().and_then(|position| at.0.item(position)),
            _ => None,
        }?;
        let names_itself = value.get("$id").is_some_and(|id| id.kind() == Kind::String);
        at = (value, if names_itself { value } else { at.1 });
    }
    Some(at)
}
