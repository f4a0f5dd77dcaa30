//! The variables of one call, as expressions read them. Each is made when it is first asked for.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cel::{self, Env, Expression, Failure};
use crate::facts::Facts;
use crate::json::{Document, Value};
use crate::messages::Conversation;
use crate::policy::{BoundDefinition, Policy};
use crate::program::{About, Asked, Said};
use crate::schema::Schema;
use crate::session::Session;
use crate::state::View;
use crate::world::World;

/// One call, or one other request, as expressions see it.
pub(crate) struct CallEnv<'a> {
    pub(crate) policy: &'a Policy,
    /// Those of the tool, checked against its schema; the policy's own stand in for what is not among them.
    pub(crate) definitions: &'a [BoundDefinition],
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    /// The arguments decided on; for a request that is no call, `{}`.
    pub(crate) arguments: Value<'a>,
    /// The method of a request that is no call; empty for a call.
    pub(crate) method: &'a str,
    /// `params` of a request that is no call.
    pub(crate) params: Option<Value<'a>>,
    pub(crate) schema: Option<&'a Schema>,
    pub(crate) facts: &'a Facts,
    pub(crate) state: Option<&'a View<'a>>,
    pub(crate) session: &'a Session,
    pub(crate) world: &'a dyn World,
    lazy: Lazy<'a>,
}

#[derive(Default)]
struct Lazy<'a> {
    texts: OnceCell<cel::Value<'a>>,
    conversation: OnceCell<Arc<Conversation>>,
    with_defaults: OnceCell<Option<Document>>,
    /// Why a program said no, by its name.
    objections: RefCell<BTreeMap<String, String>>,
}

impl<'a> CallEnv<'a> {
    pub(crate) fn new(
        (policy, server, tool): (&'a Policy, &'a str, &'a str),
        arguments: Value<'a>,
        facts: &'a Facts,
        session: &'a Session,
        world: &'a dyn World,
    ) -> CallEnv<'a> {
        CallEnv {
            policy,
            definitions: &[],
            server,
            tool,
            arguments,
            method: "",
            params: None,
            schema: None,
            facts,
            state: None,
            session,
            world,
            lazy: Lazy::default(),
        }
    }

    /// Every decoded key and string of the arguments, so that no escape can hide a path.
    fn texts(&self) -> cel::Value<'_> {
        let texts = self.lazy.texts.get_or_init(|| {
            let (document, span) = (self.arguments.document(), self.arguments.span());
            let inside = |value: &Value<'_>| span.contains(&value.span().start);
            let strings = document.all().filter(inside).filter_map(Value::as_str);
            cel::Value::list(strings.map(cel::Value::text))
        });
        texts.clone()
    }

    /// Why a program said no to this call, if it gave a reason.
    pub(crate) fn objection(&self, program: &str) -> Option<String> {
        self.lazy.objections.borrow().get(program).cloned()
    }

    fn said<'b>(&'b self, part: impl FnOnce(&'b Conversation) -> &'b str) -> cel::Value<'b> {
        if let Some(why) = self.session.unheard() {
            return cel::Value::missing(why.to_owned());
        }
        cel::Value::text(part(self.lazy.conversation.get_or_init(|| self.session.conversation())))
    }
}

impl CallEnv<'_> {
    /// What a program says to a question of yes or no, and why.
    ///
    /// # Errors
    /// Why that is not known.
    pub(crate) fn yes_or_no(&self, program: &str, about: About<'_>) -> Result<(bool, String), String> {
        let asked = Asked::new(program, self.tool, self.arguments, about);
        let answer =
            self.world.ask_program(&asked).map_err(|why| format!("the program `{program}`: {why}"))?;
        match answer.said {
            Said::Allow(allows) => Ok((allows, answer.reason)),
            Said::Score(_) => Err(format!("the program `{program}` gave a score where yes or no was asked")),
        }
    }
}

impl Env for CallEnv<'_> {
    fn variable(&self, name: &str) -> Option<cel::Value<'_>> {
        Some(match name {
            "args" => cel::Value::Json(self.arguments),
            "conversation" => self.said(Conversation::text),
            "facts" => self.facts.all(),
            "now" => match self.world.now() {
                Ok(now) => cel::Value::Timestamp(now),
                Err(unknown) => cel::Value::missing(unknown.0),
            },
            "method" => cel::Value::text(self.method),
            "params" => cel::Value::Json(self.params?),
            "payload" => cel::Value::text(self.arguments.raw()),
            "state" => self.state?.whole(),
            "server" => cel::Value::text(self.server),
            "texts" => self.texts(),
            "tool" => cel::Value::text(self.tool),
            "user_request" => self.said(Conversation::user_request),
            _ => return None,
        })
    }

    fn member(&self, variable: &str, name: &str) -> Option<cel::Value<'_>> {
        match variable {
            "facts" => self.facts.member(name),
            "state" => self.state?.member(name),
            _ => None,
        }
    }

    fn expression(&self, variable: &str, name: &str) -> Option<&Expression> {
        if variable != "defs" {
            return None;
        }
        if let Some(bound) = self.definitions.iter().find(|definition| definition.name == name) {
            return Some(&bound.value);
        }
        let definition = self.policy.definitions().iter().find(|definition| definition.name == name)?;
        Some(&definition.value.expression)
    }

    fn world(&self) -> &dyn World {
        self.world
    }

    fn ask_program(&self, name: &str) -> Result<bool, Failure> {
        let (allows, reason) = self.yes_or_no(name, About::Call).map_err(Failure::unknown)?;
        if !allows && !reason.is_empty() {
            self.lazy.objections.borrow_mut().insert(name.to_owned(), reason);
        }
        Ok(allows)
    }

    fn with_defaults<'b>(&'b self, arguments: cel::Value<'b>) -> Result<cel::Value<'b>, Failure> {
        let cel::Value::Json(value) = arguments else {
            return Err(Failure::error("`with_defaults` is for `args`"));
        };
        let Some(schema) = self.schema else {
            return Err(Failure::unknown("the tool's schema is not known, so its defaults are not"));
        };
        if value.ordinal() != self.arguments.ordinal() {
            return Err(Failure::error("`with_defaults` is for `args` as a whole"));
        }
        let filled = self.lazy.with_defaults.get_or_init(|| schema.with_defaults(value));
        let too_much = || Failure::error("filling in the schema's defaults is too much work");
        filled.as_ref().map(|filled| cel::Value::Json(filled.root())).ok_or_else(too_much)
    }
}
