//! What an answer does to the state: the `on_result` transitions. An answer is never refused: the call is done.

use super::machine::{Action, Bound, Call};
use super::payload::{self, RESULT};
use super::program::Truth;
use super::value::{Kept, Text, Value, Why};
use super::{Dialect, Praxiom, State};
use crate::json;

/// What an answer did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The covering actions with an `on_result`, in the order declared.
    pub actions: Vec<String>,
    /// The state from here on.
    pub next: State,
    /// Whether it is another one.
    pub changed: bool,
    /// Invariants that fail now: every later covered call is refused by them.
    pub violated: Vec<String>,
}

/// Characters of a result that the original looks at.
const RESULT_CHARS_MAX: usize = 65_536;

impl Praxiom {
    /// The state after an answer, of which `result` is the text ([`Praxiom::result_text`]). `None` when no covering
    /// action looks at answers. The state is the current one, whatever it was when the call was decided: of two
    /// assignments the later wins.
    #[must_use]
    pub fn answer(&self, state: &State, call: &Call<'_>, result: &str) -> Option<Observed> {
        let result = self.dialect.text(result);
        let observed = self.observe(state, call, &Value::Str(Text::Borrowed(&result)));
        let (actions, values) = observed?;
        let violated = self.invariants.iter().filter(|one| one.holds(&values, &[]) != Truth::True);
        let violated = violated.map(|invariant| invariant.name.clone()).collect();
        let next = State::committed(values);
        let changed = next != *state;
        Some(Observed { actions, next, changed, violated })
    }

    /// The state after a call whose answer nobody saw: cancelled, timed out, the server gone. What the answer could
    /// have changed is unknown from here on, and what reads it undecided, until it is assigned again. (The original
    /// forgets such calls, and so does [`Dialect::Original`].)
    #[must_use]
    pub fn lost(&self, state: &State, call: &Call<'_>) -> State {
        if self.dialect == Dialect::Original {
            return state.clone();
        }
        let Some((_, values)) = self.observe(state, call, &Value::Unknown(Why::TooLong)) else {
            return state.clone();
        };
        let pairs = state.values.iter().zip(values).enumerate();
        let merged =
            pairs.map(|(at, (old, new))| if *old == new { new } else { Kept::Unknown(Why::Lost(at)) });
        State::committed(merged.collect())
    }

    fn observe(
        &self,
        state: &State,
        call: &Call<'_>,
        result: &Value<'_>,
    ) -> Option<(Vec<String>, Vec<Kept>)> {
        let actions: Vec<&Action> =
            self.covering(call.tool).filter(|action| !action.on_result.is_empty()).collect();
        if actions.is_empty() {
            return None;
        }
        let names = actions.iter().map(|action| action.name.clone()).collect();
        let mut next = state.values.to_vec();
        match self.bind(call, actions.clone()) {
            Ok(bound) => assign(state, &bound, result, &mut next),
            // Arguments that no decision accepted: nobody can say what the answer means.
            Err(_) => {
                for (at, _) in actions.iter().flat_map(|action| &action.on_result) {
                    if let Some(slot) = next.get_mut(*at) {
                        *slot = Kept::Unknown(Why::Lost(*at));
                    }
                }
            }
        }
        Some((names, next))
    }

    /// The text of a `tools/call` result that `on_result` looks at: the texts of its blocks, one a line, other
    /// blocks as JSON, then the structured content as JSON. (The original shows other blocks as Python objects, and
    /// looks at the first 65,536 characters only; [`Dialect::Original`] cuts there too.)
    #[must_use]
    pub fn result_text(&self, result: json::Value<'_>) -> String {
        let blocks = result.get("content").into_iter().flat_map(json::Value::items);
        let mut parts: Vec<String> = blocks
            .map(|block| match block.get("text").and_then(json::Value::as_str) {
                Some(text) => text.to_owned(),
                None => payload::show(block, RESULT),
            })
            .collect();
        let structured = result.get("structuredContent").filter(|value| !value.is_null());
        parts.extend(structured.map(|value| payload::show(value, RESULT)));
        let text = parts.join("\n");
        if self.dialect == Dialect::Safe {
            return text;
        }
        match text.char_indices().nth(RESULT_CHARS_MAX) {
            Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
            None => text,
        }
    }
}

/// Later declarations win; all read the state as it was.
fn assign(state: &State, bound: &Bound<'_>, result: &Value<'_>, next: &mut [Kept]) {
    for (action, arguments) in &bound.actions {
        for (at, program) in &action.on_result {
            let env = bound.env(&state.values, &[], arguments, result.clone());
            if let Some(slot) = next.get_mut(*at) {
                *slot = program.run(&env).keep();
            }
        }
    }
}
