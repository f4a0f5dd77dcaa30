//! Two effects of one call on one variable.

use std::ops::Range;

use super::super::locate::Cel;
use super::Effect;
use crate::state::Kind;

/// One effect, and whose.
#[derive(Debug, Clone, Copy)]
pub(in crate::policy) struct Setting<'p> {
    pub(in crate::policy) rule: &'p str,
    pub(in crate::policy) effect: &'p Effect,
}

/// Pairs of effects that may give one variable different values, as the sentence that says so and the second one's
/// place. What combines has no such pairs, nor what is spelled the same.
pub(in crate::policy) fn clashes<'p>(
    settings: &[Setting<'p>],
    mut meet: impl FnMut(&str, &str) -> bool,
) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut first: std::collections::BTreeMap<&str, Vec<Setting<'p>>> = std::collections::BTreeMap::new();
    for setting in settings {
        let variable = &setting.effect.variable;
        if variable.combine.is_some() || matches!(variable.kind, Kind::Window { .. }) {
            continue;
        }
        let before = first.entry(&variable.name).or_default();
        let other = before.iter().find(|other| {
            text(&other.effect.value.cel) != text(&setting.effect.value.cel) && meet(other.rule, setting.rule)
        });
        if let Some(other) = other {
            let message = format!(
                "`{}` and `{}` may both set `{}` in one call, to different values",
                other.rule, setting.rule, variable.name
            );
            found.push((setting.effect.value.cel.span.clone(), message));
        } else {
            before.push(*setting);
        }
    }
    found
}

fn text(cel: &Cel) -> &str {
    cel.text.trim()
}
