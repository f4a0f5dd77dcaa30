//! How much work a schema can make, before it is let in.
//!
//! Two kilobytes of `{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]}`, each one naming the next, take a
//! validator 9 s on the smallest value. What counts is references × branches: the number of subschemas that look
//! at one value, its parents included.

use super::SchemaError;
use super::graph::{Graph, Node, NodeId};

/// Evaluations of one value above which a schema is not adopted: about 1.4 ms.
pub const EXPANSION_MAX: u64 = 50_000;

/// Evaluations (of one value × values) up to which arguments are checked on a pump's thread: about 3 ms.
pub const WORK_ON_THREAD_MAX: u64 = 100_000;

/// Evaluations up to which arguments are repaired: looking for a repair costs more than looking for a fault.
pub const WORK_REPAIRED_MAX: u64 = 1_000_000;

/// Evaluations up to which arguments are checked at all: about half a second. What is larger does not fit.
pub const WORK_MAX: u64 = 20_000_000;

/// Names that are looked up in an object for one evaluation, each a walk over its members.
const NAMES_PER_EVALUATION: u64 = 8;

/// Subschemas of one schema.
pub const GRAPH_MAX: usize = 20_000;

/// The deepest value that is checked, and the deepest schema that is read.
pub const DEPTH_MAX: usize = 64;

/// The depth of a value for which a schema must keep within [`EXPANSION_MAX`] to be adopted. A schema that
/// only deeper values make expensive is adopted; those values are refused.
pub const DEPTH_ADOPTED: usize = 8;

/// Subschemas on the way from the root to the deepest value: each one is a frame or two of the stack.
pub const CHAIN_MAX: u32 = 640;

/// What a schema costs.
#[derive(Debug, Clone)]
pub(super) struct Cost {
    /// By the value's depth, from 0 to [`DEPTH_MAX`]; never falls.
    by_depth: Vec<u64>,
    /// The deepest value that is within the limits.
    pub(super) depth_max: usize,
}

impl Cost {
    /// For values as deep as every adopted schema must bear.
    pub(super) fn estimate(&self) -> u64 {
        self.at(DEPTH_ADOPTED)
    }

    /// For a value of that depth.
    pub(super) fn at(&self, depth: usize) -> u64 {
        self.by_depth.get(depth).copied().unwrap_or(u64::MAX)
    }
}

/// Evaluations, and the longest chain of them, for one subschema on an object and on an array.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Work {
    object: u64,
    array: u64,
    chain: u32,
}

impl Work {
    fn worst(self) -> u64 {
        self.object.max(self.array)
    }
}

/// Measures a schema.
///
/// # Errors
/// [`SchemaError::Endless`], [`SchemaError::Explodes`], [`SchemaError::TooLarge`].
pub(super) fn measure(graph: &Graph) -> Result<Cost, SchemaError> {
    let order = in_place_order(graph)?;
    let mut below = vec![Work::default(); graph.nodes.len()];
    let mut by_depth = Vec::with_capacity(DEPTH_MAX + 1);
    let mut depth_max = None;
    let mut settled = false;
    for depth in 0..=DEPTH_MAX {
        // What does not recur stays the same from its own depth on.
        let here = if settled { below.clone() } else { layer(graph, &order, &below) };
        settled = settled || here == below;
        let root = here.first().copied().unwrap_or_default();
        by_depth.push(root.worst());
        if root.worst() <= EXPANSION_MAX && root.chain <= CHAIN_MAX {
            depth_max = Some(depth);
        } else if depth <= DEPTH_ADOPTED {
            return Err(too_much(root));
        }
        below = here;
    }
    Ok(Cost { by_depth, depth_max: depth_max.unwrap_or(0) })
}

fn too_much(root: Work) -> SchemaError {
    if root.chain > CHAIN_MAX {
        return SchemaError::TooLarge(format!("a chain of more than {CHAIN_MAX} references and branches"));
    }
    SchemaError::Explodes { estimate: root.worst(), limit: EXPANSION_MAX }
}

/// One depth of values, from the one below it.
fn layer(graph: &Graph, order: &[NodeId], below: &[Work]) -> Vec<Work> {
    let mut here = vec![Work::default(); graph.nodes.len()];
    for id in order {
        let Some(node) = graph.nodes.get(*id) else { continue };
        let work = work_of(node, &here, below);
        if let Some(slot) = here.get_mut(*id) {
            *slot = work;
        }
    }
    here
}

fn work_of(node: &Node, here: &[Work], below: &[Work]) -> Work {
    let of = |works: &[Work], id: &NodeId| works.get(*id).copied().unwrap_or_default();
    let sum = |ids: &[NodeId], count: &dyn Fn(&NodeId) -> u64| {
        ids.iter().fold(0_u64, |sum, id| sum.saturating_add(count(id)))
    };
    let below_worst = |id: &NodeId| of(below, id).worst();
    let one_of = |ids: &[NodeId]| ids.iter().map(below_worst).max().unwrap_or(0);
    let again = if node.asks_again { 3 } else { 1 };
    let member = one_of(&node.member_one_of).saturating_add(sum(&node.member_each, &below_worst));
    let item = one_of(&node.item_one_of).saturating_add(sum(&node.item_each, &below_worst));
    let in_place = |kind: &dyn Fn(Work) -> u64| {
        let one_of = |ids: &Vec<NodeId>| ids.iter().map(|id| kind(of(here, id))).max().unwrap_or(0);
        let each = sum(&node.same, &|id| kind(of(here, id)));
        node.same_one_of.iter().fold(each, |sum, ids| sum.saturating_add(one_of(ids))).saturating_mul(again)
    };
    let parts = node.member_one_of.iter().chain(&node.member_each).chain(&node.item_one_of);
    let chain_below = parts.chain(&node.item_each).map(|id| of(below, id).chain);
    let in_place_ids = node.same.iter().chain(node.same_one_of.iter().flatten());
    let chain = in_place_ids.map(|id| of(here, id).chain).chain(chain_below).max().unwrap_or(0);
    Work {
        object: 1_u64
            .saturating_add(node.names / NAMES_PER_EVALUATION)
            .saturating_add(in_place(&|work| work.object))
            .saturating_add(member),
        array: 1_u64.saturating_add(in_place(&|work| work.array)).saturating_add(item),
        chain: chain.saturating_add(1),
    }
}

/// All nodes, each after those that look at the same value from inside it.
fn in_place_order(graph: &Graph) -> Result<Vec<NodeId>, SchemaError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; graph.nodes.len()];
    let mut order = Vec::with_capacity(graph.nodes.len());
    for start in 0..graph.nodes.len() {
        let mut path = vec![(start, 0)];
        while let Some((id, edge)) = path.pop() {
            let Some(node) = graph.nodes.get(id) else { continue };
            let Some(mark) = marks.get_mut(id) else { continue };
            match (*mark, edge) {
                (Mark::Done, _) => continue,
                (Mark::Open, 0) => {
                    return Err(SchemaError::Endless(format!("byte {}", node.offset)));
                }
                _ => *mark = Mark::Open,
            }
            match node.in_place(edge) {
                Some(next) => path.extend([(id, edge + 1), (next, 0)]),
                None => {
                    *mark = Mark::Done;
                    order.push(id);
                }
            }
        }
    }
    Ok(order)
}
