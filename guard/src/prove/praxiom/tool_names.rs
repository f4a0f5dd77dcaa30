//! What expressions ask of a tool's name: where they only compare it with texts, each comparison is one more pattern,
//! and a name stands for all that the same patterns match.

use super::super::names::Piece;
use super::Compiled;
use crate::praxiom::Praxiom;
use crate::praxiom::ast::Compare;
use crate::praxiom::program::{Program, Slot, Step};

/// All programs that may name the tool.
pub(super) fn programs<'p>(
    policy: &'p Praxiom,
    properties: &'p [Compiled],
) -> impl Iterator<Item = &'p Program> {
    let actions = policy.actions.iter().flat_map(|action| {
        let guards = action.guards.iter().map(|(_, program)| program);
        guards.chain(action.effect.iter().chain(&action.on_result).map(|(_, program)| program))
    });
    let asked =
        properties.iter().flat_map(|property| std::iter::once(&property.never).chain(&property.after));
    actions.chain(asked)
}

/// Adds the patterns; false where something else is asked of the name.
pub(super) fn patterns(program: &Program, patterns: &mut Vec<Vec<Piece>>) -> bool {
    program.steps().iter().all(|step| asked(program, step, patterns))
}

fn asked(program: &Program, step: &Step, patterns: &mut Vec<Vec<Piece>>) -> bool {
    let is_tool = |slot: &Slot| matches!(program.steps().get(*slot), Some(Step::Tool));
    let text = |slot: &Slot| match program.steps().get(*slot) {
        Some(Step::Str(text)) => Some(text.as_str()),
        _ => None,
    };
    let (open_start, open_end, found): (bool, bool, Vec<&str>) = match step {
        Step::Compare(Compare::Eq | Compare::Ne, a, b) if is_tool(a) => match text(b) {
            Some(text) => (false, false, vec![text]),
            None => return false,
        },
        Step::Compare(Compare::Eq | Compare::Ne, a, b) if is_tool(b) => match text(a) {
            Some(text) => (false, false, vec![text]),
            None => return false,
        },
        Step::StartsWith(a, b) | Step::EndsWith(a, b) | Step::Contains(a, b) if is_tool(a) => match text(b) {
            Some(text) => {
                (!matches!(step, Step::StartsWith(..)), !matches!(step, Step::EndsWith(..)), vec![text])
            }
            None => return false,
        },
        Step::Member(a, list) if is_tool(a) => {
            (false, false, list.items.iter().map(String::as_str).collect())
        }
        Step::Matches(a, list) if is_tool(a) => (true, true, list.items.iter().map(String::as_str).collect()),
        step => return !step.reads().iter().any(is_tool),
    };
    patterns.extend(found.into_iter().map(|text| Piece::pattern(text, open_start, open_end)));
    true
}
