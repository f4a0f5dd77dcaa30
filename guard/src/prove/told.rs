//! A solver's sequence in words, as the model has it.

use super::Step;
use super::counter::Moment;
use super::model::{Input, InputKind, Model};
use super::term::Value;

/// What a solver chose, event by event, whether or not it can be played.
#[must_use]
pub fn told(model: &Model, moments: &[Moment]) -> Vec<Step> {
    let step = |pair: &[Moment]| {
        let [before, after] = pair else { return None };
        let (event, inputs) = before.event.as_ref()?;
        Some(Step {
            event: *event,
            later: None,
            with: chosen(model, *event, inputs),
            state: state(model, &after.state),
        })
    };
    moments.windows(2).filter_map(step).collect()
}

fn chosen(model: &Model, event: usize, inputs: &[Value]) -> String {
    let of = model.events.get(event).into_iter().flat_map(|event| &event.inputs);
    let shown = |input: &Input| !matches!(input.kind, InputKind::Own);
    let pairs =
        of.filter_map(|at| Some((model.inputs.get(*at).filter(|input| shown(input))?, inputs.get(*at)?)));
    let texts: Vec<String> = pairs.map(|(input, value)| format!("{}={value}", input.label)).collect();
    texts.join(", ")
}

fn state(model: &Model, state: &[Value]) -> String {
    let pairs = model.variables.iter().zip(state).filter(|(variable, _)| !variable.is_own);
    let texts: Vec<String> = pairs.map(|(variable, value)| format!("{}={value}", variable.name)).collect();
    if texts.is_empty() { super::NO_STATE.to_owned() } else { texts.join(", ") }
}
