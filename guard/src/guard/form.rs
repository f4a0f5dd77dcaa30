//! How a person completes a call that lacks required arguments ([`Decision::missing`]).

use std::sync::Arc;

use super::Guard;
use crate::decision::Decision;
use crate::form::{Form, Merged, Merging, Outcome, Rejected, Revision, question};
use crate::json::Value;
use crate::policy::{Arguments, Missing, ToolOptions};
use crate::schema::Schema;

/// A call that stays as it is: why, and the arguments that this is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// Why.
    pub outcome: Outcome,
    /// Which arguments.
    pub names: Vec<String>,
}

impl Guard {
    /// The form that asks for what a call lacks. `revision`: that of the client whose user is asked; nothing where
    /// nobody can be.
    ///
    /// # Errors
    /// [`Incomplete`]: why nobody is asked.
    pub fn form(&self, decision: &Decision, revision: Option<Revision>) -> Result<Form, Incomplete> {
        let (tool, names) = (&decision.tool, &decision.missing);
        let all = |outcome| Incomplete { outcome, names: names.clone() };
        let Some(options) = self.options(tool) else { return Err(all(Outcome::Disabled)) };
        let schema = self.schema(tool);
        let fields = names.iter().map(|name| (name.as_str(), options.ask.fields.get(name)));
        // Nobody is told to give a credential to the model either: this comes before what can be asked at all.
        let sensitive = self.policy.secrets().sensitive(schema.as_deref(), fields);
        if !sensitive.is_empty() {
            return Err(Incomplete { outcome: Outcome::Sensitive, names: sensitive });
        }
        if options.missing() == Missing::Refuse {
            return Err(all(Outcome::Disabled));
        }
        let Some(revision) = revision else { return Err(all(Outcome::Unsupported)) };
        let Some(schema) = schema else { return Err(all(Outcome::Unaskable(Vec::new()))) };
        Form::build(&schema, names, &options.ask, revision).map_err(|why| all(Outcome::Unaskable(why)))
    }

    /// What the person reads above the form; after an answer that did not fit, why.
    #[must_use]
    pub fn form_question(&self, tool: &str, rejected: Option<&Rejected>) -> String {
        question(tool, &self.asking(tool).ask, rejected)
    }

    /// Puts the content of an accepted answer into the arguments of the call. What comes of it is a call to be decided.
    ///
    /// # Errors
    /// [`Rejected`]: why it does not complete the call.
    pub fn complete(
        &self,
        tool: &str,
        form: &Form,
        arguments: Option<Value<'_>>,
        content: Value<'_>,
    ) -> Result<Merged, Rejected> {
        let options = self.asking(tool);
        let Some(schema) = self.schema(tool) else { return Err(Rejected::Missing(form.names().to_vec())) };
        // What is repaired, or not looked at, is no reason to ask a person again.
        let only_asked = options.arguments != Arguments::Strict;
        form.merge(&Merging { schema: &schema, ask: &options.ask, only_asked }, arguments, content)
    }

    /// Those of these arguments of a tool that look like credentials, whether forms ask for them or not.
    #[must_use]
    pub fn credentials<'n>(&self, tool: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
        let (options, schema, secrets) = (self.asking(tool), self.schema(tool), self.policy.secrets());
        let is_one = |name: &&str| secrets.is_one(schema.as_deref(), name, options.ask.fields.get(*name));
        names.into_iter().filter(is_one).collect()
    }

    fn asking(&self, tool: &str) -> Arc<ToolOptions> {
        self.options(tool).unwrap_or_default()
    }

    /// The schema that a tool's calls are judged by; that of any object for a tool of which none is known.
    fn schema(&self, tool: &str) -> Option<Arc<Schema>> {
        let known = self.tool(tool).and_then(|tool| tool.schema.clone().ok());
        let given = || {
            let options = self.options(tool)?;
            Schema::compile(options.schema.as_ref()?.document().root()).ok().map(Arc::new)
        };
        known.or_else(given).or_else(|| Schema::any_object().ok().map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Snapshot;
    use crate::policy::Policy;
    use crate::session::Session;
    use crate::world::NoWorld;
    use crate::{Call, Facts, Outcome as Decided, json};

    const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1},"token":{"type":"string"}},"required":["city","days"]}"#;

    fn read(text: &str) -> json::Document {
        json::Document::read(text.to_owned().into(), &json::Limits::default()).unwrap()
    }

    fn guard(policy: &str) -> Guard {
        let policy =
            Policy::load("p.yaml", format!("framegate: 1\n{policy}").as_bytes(), &mut |_| Err("".into()));
        let guard = Guard::new(policy.unwrap_or_else(|why| panic!("{why}")).policy, "s", Facts::default());
        let tool = format!(r#"{{"name":"t","inputSchema":{SCHEMA}}}"#);
        guard.adopt([("t".to_owned(), Ok(read(&tool)))]).0
    }

    fn decide(guard: &Guard, arguments: &str) -> Decision {
        let arguments = read(arguments);
        let call = Call { tool: "t", id: None, arguments: arguments.root() };
        guard.decide(&call, &Session::default(), &Snapshot::nothing(), &NoWorld)
    }

    fn missing(policy: &str, arguments: &str) -> Vec<String> {
        decide(&guard(policy), arguments).missing
    }

    #[test]
    fn a_call_that_only_lacks_arguments_is_denied_and_says_which() {
        let of = |options: &str, arguments: &str| missing(&format!("tools: {{ t: {options} }}"), arguments);
        assert_eq!(of("{}", "{}"), ["city", "days"]);
        assert_eq!(of("{}", r#"{"days":1}"#), ["city"]);
        assert_eq!(of("{}", r#"{"city":"x","days":null}"#), ["days"]);
        assert_eq!(of("{ ask: { required: [seat] } }", r#"{"city":"x","days":1}"#), ["seat"]);
        assert_eq!(
            of("{ arguments: coerce }", r#"{"days":"2"}"#),
            ["city"],
            "what can be repaired is not wrong"
        );
        let none: [&str; 0] = [];
        assert_eq!(of("{}", r#"{"city":"x","days":1}"#), none);
        assert_eq!(of("{}", r#"{"days":0}"#), none, "something else is wrong too");
        assert_eq!(of("{}", r#"{"days":"2"}"#), none);
        assert_eq!(of("{ undeclared: refuse }", r#"{"days":2,"other":1}"#), none);
        assert_eq!(
            of("{}", "{\"days\":2,\"note\":\"a\u{e0041}\"}"),
            none,
            "what cannot be seen is wrong too"
        );
        assert_eq!(of("{ missing: pass }", "{}"), none);
        assert_eq!(of("{ arguments: unchecked }", "{}"), none);
    }

    #[test]
    fn what_is_sent_on_all_the_same_is_neither_denied_nor_half_repaired() {
        let outcome =
            |options: &str, arguments: &str| decide(&guard(&format!("tools: {{ t: {options} }}")), arguments);
        assert_eq!(outcome("{ missing: pass }", "{}").outcome, Decided::Allow);
        assert_eq!(
            outcome("{ missing: pass }", r#"{"days":0}"#).outcome,
            Decided::Deny,
            "it is there, and wrong"
        );
        let repaired = outcome("{ missing: pass, arguments: coerce }", r#"{"days":"2"}"#);
        assert_eq!((repaired.outcome, &repaired.arguments[..]), (Decided::Allow, &br#"{"days":2}"#[..]));
        let asked = outcome("{ arguments: coerce }", r#"{"days":"2"}"#);
        assert_eq!((asked.outcome, asked.edits.len()), (Decided::Deny, 0));
        let required = outcome("{ ask: { required: [seat] } }", r#"{"city":"x","days":1,"seat":" "}"#);
        let why: Vec<&str> = required.reasons().collect();
        assert_eq!(why, ["`seat`: expected a value: it is required, got an empty one"]);
        assert_eq!(outcome("{ arguments: unchecked, missing: ask }", "{}").outcome, Decided::Deny);
    }

    #[test]
    fn nobody_is_asked_about_what_is_denied_anyway() {
        let rule = |rest: &str| {
            missing(
                &format!(
                    "tools: {{ t: {{}} }}\nrules: [ {{ name: r, that: 'false', because: No., {rest} }} ]"
                ),
                "{}",
            )
        };
        let none: [&str; 0] = [];
        assert_eq!(rule("otherwise: deny"), none);
        assert_eq!(rule("otherwise: ask"), ["city", "days"]);
        assert_eq!(rule("mode: monitor"), ["city", "days"], "on trial it denies nothing");
        let monitored = decide(&guard("mode: monitor\ntools: { t: {} }"), "{}");
        assert_eq!((monitored.outcome, monitored.missing.len()), (Decided::Allow, 2));
        let denied = "mode: monitor\ntools: { t: {} }\nrules: [ { name: r, that: 'false', because: No. } ]";
        assert_eq!(missing(denied, "{}"), none, "nor would they be");
        assert_eq!(missing("tools: { other: {} }", "{}"), none);
    }

    #[test]
    fn a_form_is_built_or_says_why_there_is_none() {
        let form = |policy: &str, revision| {
            let guard = guard(policy);
            let form = guard.form(&decide(&guard, "{}"), revision);
            form.map(|form| form.text().to_owned()).map_err(|why| (why.outcome.reason(), why.names))
        };
        let now = Some(Revision::V2026_07_28);
        let text = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["city","days"]}"#;
        assert_eq!(form("tools: { t: {} }", now).unwrap(), text);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let both = names(&["city", "days"]);
        assert_eq!(form("tools: { t: {} }", None).unwrap_err(), ("elicitation_unsupported", both.clone()));
        assert_eq!(
            form("tools: { t: { missing: refuse } }", now).unwrap_err(),
            ("elicitation_disabled", both)
        );
        let secret = "tools: { t: { missing: refuse, ask: { required: [token, city] } } }";
        assert_eq!(form(secret, None).unwrap_err(), ("sensitive_required_field", names(&["token"])));
        let asked =
            form(&format!("secrets: {{ ask: true }}\n{}", secret.replace("missing: refuse, ", "")), now);
        assert!(asked.unwrap().contains(r#""token":{"type":"string"}"#));
        let guard = guard(secret);
        assert_eq!(guard.credentials("t", ["city", "token"]), ["token"]);
    }
}
