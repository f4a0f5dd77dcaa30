//! The policy engine of Framegate: decides tool calls of a language model, for any program that makes them.
//!
//! It promises: a call is *allowed*, *asked* about or *denied* by what the policy says, and by nothing else; a
//! failure inside a rule never allows; what is allowed is the very bytes that were judged; a decision says why, in
//! words for people and in words the model can act on; and it can be made again from its record.
//!
//! It refuses to know: any protocol, any transport, any file, the clock, the environment, the network. What a rule
//! must ask of the outside it asks of a [`world::World`] that you give; each answer is kept with the decision.
//!
//! # The main types, and how they meet
//!
//! | type | what it is |
//! |---|---|
//! | [`policy::Policy`] | a policy file (YAML, rules in CEL), checked wholly when it is read; never changes |
//! | [`Facts`] | what is given from outside (`role`, `budget`), checked against what the policy declares |
//! | [`Guard`] | a policy, facts, and the tools of one server; immutable, cheap to clone; [`Guard::decide`] |
//! | [`RustRule`], [`RustMatcher`] | a rule, and where a text names a value, as Rust closures beside those of the file |
//! | [`Call`] | a tool's name and its arguments, read strictly as a [`json::Document`] |
//! | [`session::Session`] | what was said, as far as it is kept, ready to be searched, and the calls made |
//! | [`ground::Prepared`], [`ground::Sought`] | a message and a value, each made ready once: where does the text name the value |
//! | [`words`] | what is a yes, what was confirmed, what was asked for: tables of words, a language a file |
//! | [`authorize::Authorizer`] | somebody who judges whether a conversation authorizes a call; its threshold from examples |
//! | [`ledger::Ledger`] | a decision and its record as one step; in memory, or yours |
//! | [`Decision`] | [`Outcome`], [`finding::Finding`]s, what exactly is sent |
//! | [`permit::Permit`] | proof that one call may be made, once, with these bytes |
//! | [`Agent`] | all of these together, with functions to call: the place to start |
//! | [`praxiom::Praxiom`] | a policy of praxiom, run as it is: a machine of its own, without the checks of a [`Guard`] |
//! | [`state`] | what a policy remembers across calls, and what may be true while calls are under way |
//! | [`trace::Trace`] | a decision with its inputs, for a record and for [`Guard::replay`] |
//!
//! # A decision
//!
//! ```text
//!   name, arguments (bytes)
//!        │ strict reader: duplicate keys, bad escapes, depth: no call
//!        ▼
//!   is the tool listed, and offered? ── no ──────────────────────────► deny (judged no further)
//!        │
//!        ├─ its definition, its schema, the policy's own fit ─┐
//!        ├─ arguments against the schema (repaired if asked) ─┤
//!        ├─ where their values come from ◄─ the conversation ─┤
//!        ├─ rules, invariants ◄─ facts, state, conversation … ┤ findings
//!        └─ rules in Rust ◄─────── the same ──────────────────┘    │
//!                                                                  ▼
//!             any deny ──► deny    else any ask, or unknown ──► ask    else ──► allow ─ committed ─► Permit
//! ```
//!
//! # A guarded agent
//!
//! A model calls a tool, is refused, reads why, and does better. (The model here is a list of what it says.)
//!
//! ```
//! use framegate_guard::call_shape::CallShape;
//! use framegate_guard::function::tool_fn;
//! use framegate_guard::json::{Document, Limits};
//! use framegate_guard::policy::Policy;
//! use framegate_guard::{Agent, Facts, Guard, RustRule};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Sends money.
//! #[derive(Deserialize, JsonSchema)]
//! struct Pay {
//!     to: String,
//!     amount: f64,
//! }
//!
//! let text = r#"
//! framegate: 1
//! facts: { limit: { type: number, default: 100 } }
//! tools: { pay: {} }
//! rules:
//!   - name: limit
//!     tools: [pay]
//!     that: args.amount <= facts.limit
//!     because: Payments are limited to 100.
//! "#;
//! let policy = Policy::load("bank.yaml", text.as_bytes(), &mut |_| Err("no files here".into()))?.policy;
//! let facts = Facts::new(&policy, &Default::default()).map_err(|wrong| wrong.join("\n"))?;
//! let known = RustRule::new("known_account", ["pay"], |input| {
//!     let to = input.arguments.get("to").and_then(|to| to.as_str());
//!     Ok(to.ok_or("no account")?.starts_with("ACC-"))
//! })?;
//! let mut agent = Agent::new(Guard::new(policy, "bank", facts))
//!     .function(tool_fn("pay", |pay: Pay| Ok::<_, String>(format!("paid {} to {}", pay.amount, pay.to)))?)
//!     .rule(known)?;
//! assert!(agent.definition("pay", CallShape::Anthropic).unwrap().contains("limited to 100"));
//!
//! let model = [
//!     r#"{"type":"tool_use","id":"1","name":"pay","input":{"to":"ACC-31","amount":"a lot"}}"#,
//!     r#"{"type":"tool_use","id":"2","name":"pay","input":{"to":"ACC-31","amount":250}}"#,
//!     r#"{"type":"tool_use","id":"3","name":"pay","input":{"to":"ACC-31","amount":80}}"#,
//! ];
//! let mut seen = Vec::new();
//! for said in model {
//!     let said = Document::read(said.into(), &Limits::default())?;
//!     let call = CallShape::parse(said.root(), &Limits::default())?;
//!     // What the model reads next: a result, or what was wrong and what to do.
//!     seen.push(match agent.call(&call) {
//!         Ok(returned) => returned.text(),
//!         Err(refused) => refused.to_string(),
//!     });
//! }
//! assert!(seen[0].contains("`amount`: expected"), "{}", seen[0]);
//! assert!(seen[1].contains("Payments are limited to 100."), "{}", seen[1]);
//! assert_eq!(seen[2], "paid 80 to ACC-31");
//! assert_eq!(agent.session().made().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order of the checks
//!
//! All run, and all that fails is told; any deny beats every ask, wherever it stands. Where the arguments are not
//! valid, rules that read them are not asked. `approval` is the no of a person who was asked.
//!
//! | check | what it finds | leads to |
//! |---|---|---|
//! | `known_tool` | not listed, hidden, not named by the policy, or a look-alike of a listed name | deny, alone |
//! | `definition_clean` | the tool's definition reads like an instruction, where the policy says `definitions: ask` | ask |
//! | `tool_certain` | the tool's definition changed, is listed twice, or cannot be read | ask |
//! | `policy_fits` | the policy contradicts itself, or a rule does not fit the tool's schema | ask |
//! | `schema_readable` | the schema cannot be compiled, or would take too long | ask |
//! | `arguments_valid` | not an object, not as the schema says, undeclared, or with invisible characters | deny |
//! | `arguments_grounded` | a value that nobody wrote whose words count | deny, or ask |
//! | `arguments_from_user` | a value that only a tool gave, where the user was to | ask |
//! | `no_injected_arguments` | a value that comes only from where somebody also gives instructions | ask |
//! | `no_instructions_in_tool_outputs` | a tool output that reads like an instruction | ask |
//! | `no_followed_instructions` | the call does what a tool output asks for | ask |
//! | `state_overflow` | an effect makes of a state variable what it cannot hold | deny |
//! | `not_made_before` | the same call, the schema's defaults filled in, again | ask |
//! | `user_confirmed` | no yes of the user's to a message that names what the call does | deny, or ask |
//! | `user_asked_to_…` | the user did not ask for it | ask, or deny |
//! | rules that deny | by their own names: the policy's, then those in Rust | deny |
//! | rules that ask | the same | ask |
//! | what could not be evaluated | a fact not given, an error, a panic, an exhausted budget | ask, if nothing failed |
//!
//! # Limits
//!
//! | limit | value | where |
//! |---|---|---|
//! | nesting of a text | 64, at most 127 | [`json::Limits`] |
//! | digits, exponent of a number | 1,000, 10,000 | [`json::Limits`] |
//! | a policy file | 1 MiB and others | [`policy::FILE_BYTES_MAX`], [`policy::ENTRIES_MAX`] |
//! | a pattern of tool names | 256 bytes | [`policy::PATTERN_BYTES_MAX`] |
//! | a schema | 1 MiB, and an estimate of its work | [`schema::SCHEMA_BYTES_MAX`], [`schema::EXPANSION_MAX`] |
//! | values × what the schema looks at | 20 million | [`schema::WORK_MAX`] |
//! | mismatches told of one call | 16 | [`schema::MISMATCHES_MAX`] |
//! | an expression | 8 KiB, 64 levels, 100,000 steps | [`cel::SOURCE_BYTES_MAX`], [`cel::DEPTH_MAX`], [`cel::Budget::STEPS`] |
//! | all rules of a decision | 200,000 steps | [`cel::Budget::DECISION_STEPS`] |
//! | values of a call that must be grounded | 1,000 | more ask |
//! | reasons in a refusal, each | 8, 400 characters | [`refusal::REASONS_MAX`], [`refusal::REASON_CHARS_MAX`] |
//! | a form: bytes, fields, choices of one field | 64 KiB, 32, 200 | [`form::FORM_BYTES_MAX`], [`form::FIELDS_MAX`], [`form::CHOICES_MAX`] |
//! | values of one argument that are looked for, of a call that must be confirmed | 1,000, 256 | [`ground::VALUES_MAX`], [`words::WANTED_MAX`] |
//! | phrases of an intent, each | 100, 200 bytes | [`words::PHRASES_MAX`], [`words::PHRASE_BYTES_MAX`] |
//! | questions to an authorizer, again | 8 | [`authorize::PERTURB_MAX`] |
//! | work for a schema's defaults | 2 million | [`schema::DEFAULTS_WORK_MAX`] |
//! | state variables, strings in one, entries of a window | 256, 10,000, 10,000 | [`state::VARIABLES_MAX`], [`state::ITEMS_MAX`], [`state::ENTRIES_MAX`] |
//! | variables that may be true or false at once, for one rule | 6 | [`state::UNCERTAIN_MAX`] |
//! | conversation that is kept | 50 messages, 100,000 characters | [`session::Window`] |
//! | decisions whose end is awaited | 4,096 | [`agent::OPEN_MAX`] |
//! | passages that read like instructions, bytes read for them | 1,000, 4 MiB and 24 for each byte | [`detect::PASSAGES_MAX`], [`detect::WORK_PER_BYTE`] |

pub mod agent;
pub mod authorize;
pub mod call_shape;
mod catalogue;
pub mod cel;
mod check;
pub mod decimal;
pub mod decision;
pub mod definition;
pub mod detect;
pub mod facts;
pub mod finding;
pub mod flow;
pub mod form;
pub mod function;
pub mod ground;
mod guard;
pub mod import;
pub mod json;
pub mod ledger;
pub mod link;
pub mod look;
pub mod messages;
pub mod permit;
pub mod policy;
pub mod praxiom;
pub mod program;
pub mod proposal;
pub mod prove;
pub mod refusal;
mod rust_matcher;
mod rust_rule;
pub mod schema;
pub mod session;
pub mod state;
pub mod store;
pub mod text;
pub mod trace;
pub mod words;
pub mod world;

pub use agent::Agent;
pub use decision::{Decision, Outcome};
pub use facts::Facts;
pub use guard::{Call, Guard, Hearing, Incomplete, MethodCall, Ruled};
pub use rust_matcher::{Find, RustMatcher};
pub use rust_rule::{Judge, RuleError, RuleInput, RustRule};
