//! Ways of judging a call, and the conversation that they judge it in.

use std::collections::HashMap;
use std::rc::Rc;

use framegate_guard::detect::{Looking, scan};
use framegate_guard::flow::{Flow, Flowing, Heard, Index, acts, judge};
use framegate_guard::json::{Document, Limits};
use framegate_guard::messages::Role;

use crate::eval::data::Step;

/// How calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Everything is allowed.
    AllowAll,
    /// A person is asked about everything that does not only read.
    AskWrites,
    /// Values are followed; only tool outputs are known.
    FlowP,
    /// Values are followed; the user's prompt is known.
    FlowU,
}

impl How {
    /// All of them.
    pub const ALL: [How; 4] = [How::AllowAll, How::AskWrites, How::FlowP, How::FlowU];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            How::AllowAll => "allow all",
            How::AskWrites => "ask on every write",
            How::FlowP => "P: tool outputs only",
            How::FlowU => "U: prompt known",
        }
    }
}

/// Texts that were read before: the same output lies in many conversations.
#[derive(Debug, Default)]
pub struct Library {
    read: HashMap<String, Rc<Index>>,
}

impl Library {
    fn index(&mut self, text: &str, role: Role) -> Rc<Index> {
        if let Some(index) = self.read.get(text) {
            return Rc::clone(index);
        }
        let looking = if role == Role::User { Looking::User } else { Looking::Output };
        let index = Rc::new(Index::new(text, &scan(text, looking)));
        self.read.insert(text.to_owned(), Rc::clone(&index));
        index
    }
}

#[derive(Debug)]
struct Kept<'d> {
    role: Role,
    tool: Option<&'d str>,
    arguments: Option<Document>,
    text: &'d str,
    index: Rc<Index>,
}

/// A conversation as it grows.
#[derive(Debug)]
pub struct Talk<'d, 'l> {
    library: &'l mut Library,
    kept: Vec<Kept<'d>>,
}

impl<'d, 'l> Talk<'d, 'l> {
    /// Begins with what the user says.
    pub fn new(library: &'l mut Library, prompt: &'d str) -> Talk<'d, 'l> {
        let index = library.index(prompt, Role::User);
        Talk {
            library,
            kept: vec![Kept { role: Role::User, tool: None, arguments: None, text: prompt, index }],
        }
    }

    /// A call was made, and this came back.
    pub fn made(&mut self, step: &'d Step, text: &'d str) {
        let index = self.library.index(text, Role::Tool);
        let arguments = Some(document(step));
        self.kept.push(Kept { role: Role::Tool, tool: Some(&step.name), arguments, text, index });
    }

    /// Whether a call is allowed.
    pub fn allows(&self, how: How, step: &Step, only_reads: bool) -> bool {
        match how {
            How::AllowAll => true,
            How::AskWrites => only_reads,
            How::FlowP => self.flow(step, false).is_none(),
            How::FlowU => self.flow(step, true).is_none(),
        }
    }

    /// What following the values of a call finds.
    pub fn flow(&self, step: &Step, user_known: bool) -> Option<Flow> {
        let heard: Vec<Heard<'_>> = self.kept.iter().map(Kept::heard).collect();
        let arguments = document(step);
        let acts = acts(&step.name, arguments.root());
        judge(&Flowing { heard: &heard, tool: &step.name, acts, arguments: arguments.root(), user_known })
    }
}

impl Kept<'_> {
    fn heard(&self) -> Heard<'_> {
        Heard {
            role: self.role,
            tool: self.tool,
            arguments: self.arguments.as_ref().map(Document::root),
            text: self.text,
            index: &self.index,
        }
    }
}

fn document(step: &Step) -> Document {
    let read = Document::from_value(&step.arguments, &Limits::default());
    read.ok().filter(|read| !read.root().is_null()).unwrap_or_else(Document::empty_object)
}
