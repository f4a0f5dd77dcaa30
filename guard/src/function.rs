//! A registered function: what an allowed call runs.
//!
//! Its schema comes from the type of its arguments, so that what is checked and what is run cannot drift apart.
//! It runs only against a [`Permit`], which the decision gives for exactly these arguments and which the call
//! uses up.
//!
//! ```
//! use framegate_guard::function::tool_fn;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Pay {
//!     /// The account to pay to.
//!     to: String,
//!     amount: f64,
//! }
//!
//! let pay = tool_fn("pay", |pay: Pay| Ok::<_, String>(format!("paid {} to {}", pay.amount, pay.to)))?;
//! let schema = pay.schema().root();
//! assert_eq!(schema.get("required").unwrap().len(), 2);
//! # Ok::<(), framegate_guard::json::Fault>(())
//! ```

use std::fmt;

use bytes::Bytes;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::{Document, Fault, Limits};
use crate::messages::text_of;
use crate::permit::Permit;

/// A tool that the program itself runs.
pub struct Function {
    name: String,
    schema: Document,
    run: Box<Run>,
}

/// JSON of the arguments in, JSON of the result out.
type Run = dyn Fn(&Bytes) -> Result<Bytes, Stop> + Send + Sync;

/// Why a function did not give a result.
enum Stop {
    Arguments(serde_json::Error),
    Failed(String),
    Returned(serde_json::Error),
}

/// Why a call of a function has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments pass the check but not the function's own reading; nothing ran.
    #[error("the arguments of `{tool}` do not fit its function")]
    Arguments {
        /// The tool.
        tool: String,
        /// What did not fit; names types, so it is for a log, not for a model.
        source: serde_json::Error,
    },
    /// The function ran and reported an error.
    #[error("`{tool}` failed: {reason}")]
    Failed {
        /// The tool.
        tool: String,
        /// In the function's words.
        reason: String,
    },
    /// The permit is for another tool; nothing ran.
    #[error("a permit for `{permitted}` does not allow a call of `{tool}`")]
    OtherTool {
        /// The function's tool.
        tool: String,
        /// The permit's.
        permitted: String,
    },
    /// The function ran, and gave what cannot be written as JSON.
    #[error("the result of `{tool}` cannot be written: {reason}")]
    Result {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
}

impl CallError {
    /// Whether the function ran: then what it may have done counts as done.
    #[must_use]
    pub fn has_run(&self) -> bool {
        matches!(self, CallError::Failed { .. } | CallError::Result { .. })
    }
}

/// What a function gave.
#[derive(Debug, Clone)]
pub struct Returned(Document);

impl Returned {
    /// As JSON.
    #[must_use]
    pub fn json(&self) -> &Document {
        &self.0
    }

    /// As the text that a conversation keeps.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(self.0.root())
    }
}

/// Makes a function of a tool; its schema is that of `Args`.
///
/// # Errors
/// [`Fault`] when the schema of `Args` nests deeper than the reader allows.
pub fn tool_fn<Args, R, E>(
    name: &str,
    run: impl Fn(Args) -> Result<R, E> + Send + Sync + 'static,
) -> Result<Function, Fault>
where
    Args: DeserializeOwned + JsonSchema,
    R: Serialize,
    E: fmt::Display,
{
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<Args>();
    let schema = Document::from_value(schema.as_value(), &Limits::default())?;
    Ok(Function::new(name, schema, run))
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Function {
    /// A function with a schema of one's own.
    pub fn new<Args, R, E>(
        name: &str,
        schema: Document,
        run: impl Fn(Args) -> Result<R, E> + Send + Sync + 'static,
    ) -> Function
    where
        Args: DeserializeOwned,
        R: Serialize,
        E: fmt::Display,
    {
        let run = move |arguments: &Bytes| {
            let arguments = serde_json::from_slice(arguments).map_err(Stop::Arguments)?;
            let value = run(arguments).map_err(|error| Stop::Failed(error.to_string()))?;
            serde_json::to_vec(&value).map(Bytes::from).map_err(Stop::Returned)
        };
        Function { name: name.to_owned(), schema, run: Box::new(run) }
    }

    /// The tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The schema of its arguments.
    #[must_use]
    pub fn schema(&self) -> &Document {
        &self.schema
    }

    /// Runs the function with the arguments that were decided on.
    ///
    /// # Errors
    /// [`CallError`]; [`CallError::has_run`] tells whether anything may have been done.
    pub fn call(&self, permit: Permit) -> Result<Returned, CallError> {
        let tool = self.name.clone();
        if permit.tool() != tool {
            return Err(CallError::OtherTool { tool, permitted: permit.tool().to_owned() });
        }
        let json = match (self.run)(&permit.into_arguments()) {
            Ok(json) => json,
            Err(Stop::Arguments(source)) => return Err(CallError::Arguments { tool, source }),
            Err(Stop::Failed(reason)) => return Err(CallError::Failed { tool, reason }),
            Err(Stop::Returned(error)) => return Err(CallError::Result { tool, reason: error.to_string() }),
        };
        let read = Document::read(json, &Limits::default());
        read.map(Returned).map_err(|fault| CallError::Result { tool, reason: fault.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::{CallError, Function, tool_fn};
    use crate::json::{Document, Limits};
    use crate::permit::Permit;

    #[derive(Deserialize, JsonSchema)]
    struct Pay {
        to: String,
        #[serde(default)]
        amount: u64,
    }

    fn pay() -> (Function, Arc<AtomicUsize>) {
        let paid = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&paid);
        let run = move |pay: Pay| {
            counter.fetch_add(1, Ordering::Relaxed);
            if pay.to == "Z" {
                Err("no such account")
            } else {
                Ok(format!("paid {} to {}", pay.amount, pay.to))
            }
        };
        (tool_fn("pay", run).unwrap(), paid)
    }

    fn permit(tool: &str, arguments: &str) -> Permit {
        let document = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        Permit::untried(tool, document.source().clone(), crate::proposal::CallKey::of(tool, document.root()))
    }

    #[test]
    fn the_schema_is_that_of_the_arguments() {
        let (pay, _) = pay();
        let schema = pay.schema().root();
        assert_eq!(schema.get("required").unwrap().raw(), r#"["to"]"#);
        assert_eq!(
            schema.get("properties").unwrap().get("amount").unwrap().get("minimum").unwrap().raw(),
            "0"
        );
    }

    #[test]
    fn runs_with_what_was_permitted() {
        let (pay, paid) = pay();
        let returned = pay.call(permit("pay", r#"{"to":"A","amount":5}"#)).unwrap();
        assert_eq!(
            (returned.text().as_str(), returned.json().root().raw()),
            ("paid 5 to A", "\"paid 5 to A\"")
        );
        assert_eq!(paid.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn nothing_runs_for_another_tool_or_other_arguments() {
        let (pay, paid) = pay();
        let other = pay.call(permit("look", r#"{"to":"A"}"#)).unwrap_err();
        assert_eq!(other.to_string(), "a permit for `look` does not allow a call of `pay`");
        let unfit = pay.call(permit("pay", r#"{"to":5}"#)).unwrap_err();
        assert_eq!(unfit.to_string(), "the arguments of `pay` do not fit its function");
        assert!(!other.has_run() && !unfit.has_run() && paid.load(Ordering::Relaxed) == 0);
    }

    #[test]
    fn a_failure_is_told_in_the_functions_words() {
        let failed = pay().0.call(permit("pay", r#"{"to":"Z"}"#)).unwrap_err();
        assert_eq!(failed.to_string(), "`pay` failed: no such account");
        assert!(failed.has_run());
    }

    #[test]
    fn a_result_that_is_no_json_is_an_error_after_the_fact() {
        let run = |_: HashMap<String, u64>| Ok::<_, String>(HashMap::from([([1, 2], 3)]));
        let odd = Function::new("odd", Document::empty_object(), run);
        let error = odd.call(permit("odd", "{}")).unwrap_err();
        assert!(matches!(error, CallError::Result { .. }) && error.has_run());
    }
}
