//! Two effects of one call on one variable.

use std::ops::Range;

use super::super::locate::Cel;
use super::Effect;
use crate::policy::Rule;
use crate::state::Kind;

/// One effect, and whose.
#[derive(Debug, Clone, Copy)]
struct Setting<'p> {
    rule: &'p str,
    effect: &'p Effect,
}

/// What to do about a clash.
pub(in crate::policy) const HINT: &str = "spell both the same, or say how they combine: `combine: or`";

/// Those of rules that may be for one call, where `meet` tells of two of them: what they set when it is sent, and what
/// they set with its answer.
pub(in crate::policy) fn clashes_of<'p>(
    rules: impl Iterator<Item = &'p Rule> + Clone,
    mut meet: impl FnMut(&str, &str) -> bool,
) -> Vec<(Range<usize>, String)> {
    let effects: [fn(&Rule) -> &[Effect]; 2] = [|rule| &rule.effects.set, |rule| &rule.effects.after];
    let of = |of: fn(&'p Rule) -> &'p [Effect]| -> Vec<Setting<'p>> {
        rules
            .clone()
            .flat_map(|rule| of(rule).iter().map(|effect| Setting { rule: &rule.name, effect }))
            .collect()
    };
    effects.into_iter().flat_map(|effects| clashes(&of(effects), &mut meet)).collect()
}

/// Pairs of effects that may give one variable different values, as the sentence that says so and the second one's
/// place. What combines has no such pairs, nor what is spelled the same.
fn clashes<'p>(
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
