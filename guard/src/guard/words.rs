//! What a guard tells the model: why a call was refused, what to do next, and which rules there are.

use std::sync::Arc;

use super::Guard;
use super::told::told;
use crate::call_shape::CallShape;
use crate::decision::Decision;
use crate::definition::{CheckInfo, Definition, Edit, in_deciding_order, rules_text, show_rules};
use crate::finding::{Effect, Finding};
use crate::json::{Document, Value};
use crate::refusal::{FindingView, OnFailure, REASON_CHARS_MAX, REASONS_MAX, Refusal, plain};

impl Guard {
    /// What a refused call says to the model: what failed, then what to do next.
    #[must_use]
    pub fn message(&self, decision: &Decision) -> String {
        if let Some(said) = self.said_by_praxiom(decision) {
            return said;
        }
        let advice = self.advice(decision);
        let line_break = if advice.is_empty() { "" } else { "\n" };
        format!("{}{line_break}{advice}", self.summary(decision))
    }

    /// What the model should do next, alone: in the policy author's words; by kind of failure where there are none.
    #[must_use]
    pub fn advice(&self, decision: &Decision) -> String {
        let mut lines: Vec<String> = advice(decision).into_iter().map(|line| format!("- {line}")).collect();
        let unadvised: Vec<FindingView<'_>> =
            decision.standing().filter(|finding| finding.advice.is_none()).map(view).collect();
        let refusal = Refusal { tool: &decision.tool, findings: &unadvised, language: &self.language };
        lines.push(refusal.advice());
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }

    /// What failed, alone.
    #[must_use]
    pub fn summary(&self, decision: &Decision) -> String {
        let said = self.said_by_praxiom(decision);
        said.unwrap_or_else(|| self.with_refusal(decision, |refusal| refusal.summary()))
    }

    /// Runs over the refusal that a decision makes, for its other forms ([`Refusal::feedback`]).
    pub fn with_refusal<T>(&self, decision: &Decision, then: impl FnOnce(&Refusal<'_>) -> T) -> T {
        let views: Vec<FindingView<'_>> = decision.standing().map(view).collect();
        then(&Refusal { tool: &decision.tool, findings: &views, language: &self.language })
    }

    /// Whether the policy asks anywhere for descriptions that say the rules (`show_rules`).
    #[must_use]
    pub fn shows_rules(&self) -> bool {
        !self.is_monitoring() && self.policy.shows_rules()
    }

    fn shows_rules_of(&self, tool: &str) -> bool {
        self.options(tool).is_some_and(|options| options.show_rules && !options.hidden)
    }

    /// The edits that make a listing's `tools` say the rules, where `show_rules` asks for it: inside the
    /// descriptions of tools that are offered, or inserting one.
    #[must_use]
    pub fn show_rules(&self, tools: Value<'_>) -> Vec<Edit> {
        let rules = |tool: &str| match self.shows_rules_of(tool) {
            true => self.told_of(tool),
            false => Vec::new(),
        };
        show_rules(tools, &self.language, rules)
    }

    /// A listed tool as a model is shown it, with the rules its calls are held to. Nothing when it is not listed
    /// or not offered.
    #[must_use]
    pub fn definition(&self, tool: &str, shape: CallShape) -> Option<String> {
        let options = self.options(tool).filter(|options| !options.hidden)?;
        let definition = self.tool_definition(tool)?.root();
        let none = Document::empty_object();
        let schema = match &options.schema {
            Some(schema) => schema.document().root(),
            None => definition.get("inputSchema").unwrap_or(none.root()),
        };
        let description = definition.get("description").and_then(Value::as_str).unwrap_or_default();
        let rules = rules_text(&self.language, &self.told_of(tool));
        Some(Definition { name: tool, description, schema }.json(shape, rules.as_deref()))
    }

    /// A tool as the policy binds it, listed or not.
    fn bound(&self, tool: &str) -> Option<Arc<crate::policy::BoundTool>> {
        match self.tool(tool) {
            Some(tool) => Some(Arc::clone(&tool.bound)),
            None => self.policy.bind(&self.server, &crate::policy::Listing::unknown()).0.tool(tool),
        }
    }

    /// The rules of a tool's calls that have effects on the state.
    #[must_use]
    pub fn effects_of(&self, tool: &str) -> Vec<Arc<crate::policy::Rule>> {
        let bound = self.bound(tool);
        let rules = bound.iter().flat_map(|bound| &bound.rules).map(|bound| &bound.rule);
        rules.filter(|rule| !rule.effects.is_empty()).cloned().collect()
    }

    /// What a model is told of: where values must come from, then the rules; what denies first.
    fn told_of(&self, tool: &str) -> Vec<CheckInfo> {
        let options = self.options(tool);
        let own = options.iter().flat_map(|options| told(&options.provenance));
        in_deciding_order(own.chain(self.checks_of(tool)).collect())
    }

    /// The rules that a tool's calls pass through, in deciding order.
    #[must_use]
    pub fn checks_of(&self, tool: &str) -> Vec<CheckInfo> {
        let Some(bound) = self.bound(tool) else { return Vec::new() };
        let rule = |bound: &crate::policy::BoundRule| CheckInfo {
            name: bound.rule.name.clone(),
            reason: bound.rule.because.clone(),
            on_failure: bound.rule.otherwise.into(),
        };
        let own = self.rust_rules.iter().filter(|rule| rule.names(&self.server, tool));
        let own = own.map(|rule| CheckInfo {
            name: rule.name.clone(),
            reason: rule.because.clone(),
            on_failure: rule.on_failure(),
        });
        let demanding = bound.rules.iter().filter(|bound| !bound.rule.has_effects_only);
        in_deciding_order(demanding.map(rule).chain(own).collect())
    }
}

/// The policy author's advice, each once, as many as there are reasons.
fn advice(decision: &Decision) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for advice in decision.standing().filter_map(|finding| finding.advice.as_deref()) {
        let line = plain::line(advice, REASON_CHARS_MAX);
        if lines.len() < REASONS_MAX && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn view(finding: &Finding) -> FindingView<'_> {
    FindingView {
        name: &finding.check,
        reason: if finding.because.is_empty() { &finding.reason } else { &finding.because },
        on_failure: if finding.effect == Effect::Deny { OnFailure::Deny } else { OnFailure::Ask },
        next: finding.next,
    }
}
