//! Questions as SMT-LIB 2 text. A question is a whole script: the solver keeps nothing between two of them, so one
//! that hangs is ended and the next one is asked as if nothing had happened.
//!
//! Names: `s2.0` is variable 2 before step 0, `x5.0` input 5 at step 0, `e.0` which event step 0 is, `n17.0` term 17
//! as it reads at step 0.

use std::fmt::Write as _;

use super::model::{Model, Property};
use super::term::{Id, Node, Sort, Terms, Two, Value};

/// SMT-LIB's strings end at U+2FFFF, texts do not. Those that it has beyond the last that is assigned there stand for all
/// that it has not: a text of the policy with one of them would be told apart from texts that are the same to it.
const CHAR_MAX: u32 = 0x2_fa1f;

/// Whether SMT-LIB can write a text, so that it is told apart from all others. What it cannot is to be a free value.
pub(crate) fn is_writable(text: &str) -> bool {
    text.chars().all(|c| u32::from(c) <= CHAR_MAX)
}

/// A script, and whose values are asked for if it can be satisfied.
#[derive(Debug, Clone)]
pub struct Query {
    /// SMT-LIB 2: one `check-sat`, then one `get-value`, which the solver answers by an error where there is no model.
    pub script: String,
    /// Steps whose values are asked for; `None`: only whether it can be satisfied.
    pub(crate) steps: Option<usize>,
}

/// Where a question's sequence begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// Before the first call.
    Initial,
    /// Anywhere.
    Anywhere,
}

/// A script under construction.
pub(crate) struct Script<'m> {
    model: &'m Model,
    /// What is known of every state that can be reached.
    known: &'m [Id],
    text: String,
    /// Events written.
    steps: usize,
}

impl<'m> Script<'m> {
    pub(crate) fn new(model: &'m Model, from: From, known: &'m [Id]) -> Script<'m> {
        let mut script = Script { model, known, text: String::new(), steps: 0 };
        script.text.push_str("(set-option :produce-models true)\n(set-logic ALL)\n");
        script.state(0);
        if from == From::Initial {
            for (at, variable) in model.variables.iter().enumerate() {
                if let Some(value) = &variable.initial {
                    script.line(&format!("(assert (= s{at}.0 {}))", written(value)));
                }
            }
        }
        script
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The variables before a step.
    fn state(&mut self, step: usize) {
        for (at, variable) in self.model.variables.iter().enumerate() {
            self.line(&format!("(declare-const s{at}.{step} {})", sort_name(variable.sort)));
            if let Some((least, most)) = &variable.range {
                let (least, most) = (integer(least), integer(most));
                self.line(&format!("(assert (<= {least} s{at}.{step} {most}))"));
            }
        }
    }

    /// One more event, whichever is possible.
    pub(crate) fn step(&mut self) {
        let (model, step) = (self.model, self.steps);
        self.steps += 1;
        for (at, input) in model.inputs.iter().enumerate() {
            self.line(&format!("(declare-const x{at}.{step} {})", sort_name(input.sort)));
        }
        let mut roots = event_roots(model);
        roots.extend(self.known);
        self.terms(step, &roots);
        self.state(step + 1);
        self.line(&format!("(declare-const e.{step} Int)"));
        self.line(&format!("(assert (and (<= 0 e.{step}) (< e.{step} {})))", model.events.len()));
        for (number, event) in model.events.iter().enumerate() {
            let mut holds = name(event.possible, step);
            for (at, _) in model.variables.iter().enumerate() {
                let effect = event.effects.iter().find(|(changed, _)| *changed == at);
                let next = effect.map_or_else(|| format!("s{at}.{step}"), |(_, term)| name(*term, step));
                // Writing to a string cannot fail.
                let _ = write!(holds, " (= s{at}.{} {next})", step + 1);
            }
            self.line(&format!("(assert (=> (= e.{step} {number}) (and {holds})))"));
        }
    }

    /// Terms as they read at a step.
    fn terms(&mut self, step: usize, roots: &[Id]) {
        let terms = &self.model.terms;
        for id in terms.reached(roots.iter().copied()) {
            let line = format!(
                "(define-fun {} () {} {})",
                name(id, step),
                sort_name(terms.sort(id)),
                expression(terms, id, step)
            );
            self.line(&line);
        }
    }

    /// The state after the last step, where something is asked of it.
    pub(crate) fn end(&mut self, property: Option<usize>) {
        let property = property.and_then(|property| self.model.properties.get(property));
        let state = property.and_then(|property| property.state);
        let roots: Vec<Id> = self.known.iter().copied().chain(state).collect();
        self.terms(self.steps, &roots);
    }

    /// What is known of a state.
    pub(crate) fn lemmas(&mut self, state: usize) {
        for lemma in self.known {
            self.line(&format!("(assert {})", name(*lemma, state)));
        }
    }

    /// Whether something that is guessed does not hold in a state.
    pub(crate) fn any_broken(&self, state: usize) -> String {
        let broken = self.known.iter().map(|guess| format!(" (not {})", name(*guess, state)));
        format!("(or false{})", broken.collect::<String>())
    }

    /// Whether a step breaks the property; of one over states, whether the state does.
    pub(crate) fn violated(&self, property: usize, at: usize) -> String {
        match self.model.properties.get(property).and_then(|property| property.state) {
            Some(term) => name(term, at),
            None => self.watched(property, at),
        }
    }

    fn watched(&self, property: usize, step: usize) -> String {
        let mut any = String::from("(or false");
        for (number, event) in self.model.events.iter().enumerate() {
            for watch in event.watched.iter().filter(|watch| watch.property == property) {
                // Writing to a string cannot fail.
                let _ = write!(any, " (and (= e.{step} {number}) {})", name(watch.never, step));
            }
        }
        any.push(')');
        any
    }

    pub(crate) fn assert(&mut self, condition: &str) {
        self.line(&format!("(assert {condition})"));
    }

    /// No two of the states before the steps are the same: a shortest sequence goes nowhere twice.
    pub(crate) fn distinct(&mut self, states: usize) {
        for later in 1..states {
            for earlier in 0..later {
                let mut differs = String::from("(or false");
                for at in 0..self.model.variables.len() {
                    // Writing to a string cannot fail.
                    let _ = write!(differs, " (distinct s{at}.{earlier} s{at}.{later})");
                }
                self.line(&format!("(assert {differs}))"));
            }
        }
    }

    /// The script. Values are asked for in one order: each state, event and its inputs, and the state at the end.
    pub(crate) fn query(mut self) -> Query {
        self.line("(check-sat)");
        let mut names = Vec::new();
        for step in 0..=self.steps {
            names.extend((0..self.model.variables.len()).map(|at| format!("s{at}.{step}")));
            if step < self.steps {
                names.push(format!("e.{step}"));
                names.extend((0..self.model.inputs.len()).map(|at| format!("x{at}.{step}")));
            }
        }
        if !names.is_empty() {
            self.line(&format!("(get-value ({}))", names.join(" ")));
        }
        Query { script: self.text, steps: Some(self.steps) }
    }
}

/// Whether one term can be true anywhere: of any state, with any inputs.
pub(crate) fn anywhere(model: &Model, condition: Id) -> Query {
    let mut script = Script::new(model, From::Anywhere, &[]);
    for (at, input) in model.inputs.iter().enumerate() {
        script.line(&format!("(declare-const x{at}.0 {})", sort_name(input.sort)));
    }
    script.terms(0, &[condition]);
    script.assert(&name(condition, 0));
    script.line("(check-sat)");
    Query { script: script.text, steps: None }
}

fn event_roots(model: &Model) -> Vec<Id> {
    let mut roots: Vec<Id> = model.properties.iter().filter_map(|Property { state, .. }| *state).collect();
    for event in &model.events {
        roots.push(event.possible);
        roots.extend(event.effects.iter().map(|(_, term)| *term));
        roots.extend(event.watched.iter().map(|watch| watch.never));
    }
    roots
}

fn name(id: Id, step: usize) -> String {
    format!("n{}.{step}", id.0)
}

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "Bool",
        Sort::Int => "Int",
        Sort::Real => "Real",
        Sort::Text => "String",
    }
}

fn expression(terms: &Terms, id: Id, step: usize) -> String {
    let parts = |operator: &str, ids: &[Id]| {
        let names: Vec<String> = ids.iter().map(|id| name(*id, step)).collect();
        format!("({operator} {})", names.join(" "))
    };
    match terms.node(id) {
        Node::All(ids) => parts("and", ids),
        Node::Any(ids) => parts("or", ids),
        Node::Constant(value) => written(value),
        Node::If(a, b, c) => parts("ite", &[*a, *b, *c]),
        Node::Input(at) => format!("x{at}.{step}"),
        Node::Length(id) => parts("str.len", &[*id]),
        Node::Not(id) => parts("not", &[*id]),
        Node::State(at) => format!("s{at}.{step}"),
        Node::ToInt(id) => parts("to_int", &[*id]),
        Node::ToReal(id) => parts("to_real", &[*id]),
        // The part comes first there.
        Node::Two(Two::StartsWith, a, b) => parts("str.prefixof", &[*b, *a]),
        Node::Two(Two::EndsWith, a, b) => parts("str.suffixof", &[*b, *a]),
        Node::Two(two, a, b) => parts(operator(*two, terms.sort(*a) == Sort::Text), &[*a, *b]),
    }
}

fn operator(two: Two, is_text: bool) -> &'static str {
    match two {
        Two::Add => "+",
        Two::AtMost if is_text => "str.<=",
        Two::AtMost => "<=",
        Two::Concat => "str.++",
        Two::Contains => "str.contains",
        Two::Div => "div",
        Two::EndsWith => "str.suffixof",
        Two::Equal => "=",
        Two::Less if is_text => "str.<",
        Two::Less => "<",
        Two::Mod => "mod",
        Two::Mul => "*",
        Two::StartsWith => "str.prefixof",
        Two::Sub => "-",
    }
}

fn integer(value: &num_bigint::BigInt) -> String {
    match value.sign() {
        num_bigint::Sign::Minus => format!("(- {})", value.magnitude()),
        _ => value.to_string(),
    }
}

/// A value as SMT-LIB writes it.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => integer(value),
        Value::Real(value) => {
            // Both as reals: `(/ 1 3)` of integers is one too, but only with a logic that mixes them.
            let (over, under) = (value.numer(), value.denom());
            let over = match over.sign() {
                num_bigint::Sign::Minus => format!("(- {}.0)", over.magnitude()),
                _ => format!("{over}.0"),
            };
            format!("(/ {over} {under}.0)")
        }
        Value::Text(text) => quoted(text),
    }
}

/// Everything that is not plain ASCII as an escape, the backslash too: a text never becomes another one by being read.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\"\""),
            ' '..='~' if c != '\\' => out.push(c),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_so_that_no_solver_reads_others() {
        let real = |over: i64, under: i64| {
            written(&Value::Real(num_rational::BigRational::new(over.into(), under.into())))
        };
        assert_eq!(real(-1, 3), "(/ (- 1.0) 3.0)");
        assert_eq!(real(2, 1), "(/ 2.0 1.0)");
        assert_eq!(written(&Value::Int((-7).into())), "(- 7)");
        assert_eq!(written(&Value::Text("a\"\\u{61}é\n".into())), r#""a""\u{5c}u{61}\u{e9}\u{a}""#);
    }

    #[test]
    fn characters_beyond_what_smt_lib_has_are_told_apart() {
        assert!(is_writable("\u{2fa1e}") && is_writable("\u{2fa1f}"));
        assert!(!is_writable("\u{2fa20}") && !is_writable("\u{30000}"));
    }
}
