//! `no_injected_arguments`: no grounded value comes only from where somebody also gives instructions.

use super::trail::{Taint, Trail, first_passage, says, shown};
use super::values;
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::policy::provenance::Instructions;

/// The check's name.
pub(crate) const NAME: &str = "no_injected_arguments";

/// Judges what was looked for.
pub(crate) fn check(trail: &Trail<'_>, options: &Provenance, findings: &mut Vec<Finding>) {
    if options.instructions() == Instructions::Off {
        return;
    }
    for traced in &trail.values {
        let Some((place, Some(taint))) = &traced.found else { continue };
        let mut evidence = vec![place.evidence(&traced.named.path)];
        let value = traced.named.shown();
        let reason = match taint {
            Taint::Output(kept) => {
                evidence.extend(first_passage(kept).map(|passage| passage.evidence("instructions")));
                if kept.number() == place.kept.number() {
                    format!("{value} stands only in {}, which {}", place.shown(), says(kept))
                } else {
                    let other = shown(kept);
                    format!(
                        "{value} stands only in tool outputs ({}), and {other} {}",
                        place.shown(),
                        says(kept)
                    )
                }
            }
            Taint::Beside(passage) => {
                evidence.push(passage.evidence("instructions"));
                let text = values::passage(passage.quote());
                format!(
                    "{value} stands only in {}, beside text that reads like an instruction: {text}",
                    place.shown()
                )
            }
        };
        let finding = Finding::new(NAME, Effect::Ask, NextStep::NotFromTools, reason);
        findings.push(Finding { evidence, ..finding });
    }
}
