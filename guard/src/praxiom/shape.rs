//! The file as it was typed: which keys, which types. Everything wrong is found, in the original's words.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::python::{self, repr};
use super::value::{Kept, Sort};
use super::yaml11::{self, Read};
use crate::policy::locate::Cel;
use crate::policy::problem::{Problem, Source};
use crate::policy::tree::{Key, Node, Scalar, Value};

/// A text, and where its bytes stand in the file.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) place: Cel,
}

#[derive(Debug)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    pub(crate) value: T,
}

#[derive(Debug, Default)]
pub(crate) struct Action {
    pub(crate) globs: Vec<Text>,
    pub(crate) arguments: Vec<Named<Sort>>,
    pub(crate) requires: Vec<Text>,
    pub(crate) effect: Vec<Named<Text>>,
    pub(crate) on_result: Vec<Named<Text>>,
}

#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) deny: bool,
    pub(crate) patterns: Vec<Named<Vec<String>>>,
    pub(crate) state: Vec<Named<(Sort, Kept)>>,
    pub(crate) invariants: Vec<Named<Text>>,
    pub(crate) actions: Vec<Named<Action>>,
}

/// Reads the file's shape. The file is of use only without problems.
pub(crate) fn read(source: &Arc<Source>, context: &str, root: &Node) -> (File, Vec<Problem>) {
    let mut shape = Shape { source, context, problems: Vec::new() };
    let file = shape.file(root);
    (file, shape.problems)
}

struct Shape<'s> {
    source: &'s Arc<Source>,
    context: &'s str,
    problems: Vec<Problem>,
}

type Pairs = [(Key, Rc<Node>)];

impl Shape<'_> {
    fn error(&mut self, span: &Range<usize>, path: &str, message: &str) {
        let message = format!("{}: {path}: {message}", self.context);
        self.problems.push(Problem::error(self.source, span.clone(), message));
    }

    fn file(&mut self, root: &Node) -> File {
        const KEYS: [&str; 5] = ["default", "patterns", "state", "invariants", "actions"];
        let mut file = File::default();
        let Value::Map(pairs) = &root.value else { return file };
        for (key, value) in pairs {
            match self.model_key(key, &KEYS, "") {
                Some("default") => {
                    let known = [("allow", false), ("deny", true)];
                    let read = self.choice(value, "default", "Input should be 'allow' or 'deny'", &known);
                    file.deny = read.unwrap_or(true);
                }
                Some("patterns") => file.patterns = self.patterns(value),
                Some("state") => file.state = self.dictionary(value, "state", Shape::variable),
                Some("invariants") => file.invariants = self.list(value, "invariants", Shape::invariant),
                Some("actions") => file.actions = self.list(value, "actions", Shape::action),
                _ => {}
            }
        }
        if self.problems.is_empty() {
            self.names(&file);
        }
        file
    }

    /// What holds only once the parts are right.
    fn names(&mut self, file: &File) {
        let invariants = file.invariants.iter().map(|item| (item.name.as_str(), &item.span)).collect();
        let actions = file.actions.iter().map(|item| (item.name.as_str(), &item.span)).collect();
        self.unique("invariant", invariants);
        self.unique("action", actions);
        for list in file.patterns.iter().filter(|list| list.value.is_empty()) {
            self.error(&list.span, "<top level>", &format!("pattern list {} is empty", repr(&list.name)));
        }
    }

    fn unique(&mut self, what: &str, mut names: Vec<(&str, &Range<usize>)>) {
        names.sort_by_key(|(name, span)| (*name, span.start));
        let mut twice: Vec<&str> = Vec::new();
        let mut place = None;
        for pair in names.windows(2) {
            let [(first, _), (second, span)] = pair else { continue };
            if first == second && twice.last() != Some(first) {
                twice.push(first);
                place = place.or(Some(*span));
            }
        }
        if let Some(place) = place {
            self.error(place, "<top level>", &format!("duplicate {what} name(s): {}", twice.join(", ")));
        }
    }

    /// A key of a mapping whose keys are known.
    fn model_key<'k>(&mut self, key: &'k Key, known: &[&str], path: &str) -> Option<&'k str> {
        let path = join(path, &shown(key));
        match resolved(key) {
            Read::Text(_) if known.contains(&key.text.as_str()) => return Some(&key.text),
            Read::Text(_) => self.error(&key.span, &path, "Extra inputs are not permitted"),
            _ => self.error(&key.span, &path, "Keys should be strings"),
        }
        None
    }

    /// A key of a mapping of names.
    fn name_key(&mut self, key: &Key, path: &str) -> Option<String> {
        if let Read::Text(text) = resolved(key) {
            return Some(text);
        }
        self.error(&key.span, &format!("{path}.{}.[key]", shown(key)), "Input should be a valid string");
        None
    }

    fn dictionary<T>(
        &mut self,
        node: &Node,
        path: &str,
        mut one: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<Named<T>> {
        let Value::Map(pairs) = &node.value else {
            self.error(&node.span, path, "Input should be a valid dictionary");
            return Vec::new();
        };
        let mut all = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let name = self.name_key(key, path);
            let value = one(self, value, &format!("{path}.{}", shown(key)));
            if let (Some(name), Some(value)) = (name, value) {
                all.push(Named { name, span: key.span.clone(), value });
            }
        }
        all
    }

    fn list<T>(
        &mut self,
        node: &Node,
        path: &str,
        mut one: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<T> {
        let Value::List(items) = &node.value else {
            self.error(&node.span, path, "Input should be a valid list");
            return Vec::new();
        };
        let numbered = items.iter().enumerate();
        numbered.filter_map(|(at, item)| one(self, item, &format!("{path}.{at}"))).collect()
    }

    fn model<'n>(&mut self, node: &'n Node, path: &str, class: &str) -> Option<&'n Pairs> {
        if let Value::Map(pairs) = &node.value {
            return Some(pairs);
        }
        let message = format!("Input should be a valid dictionary or instance of {class}");
        self.error(&node.span, path, &message);
        None
    }

    fn patterns(&mut self, node: &Node) -> Vec<Named<Vec<String>>> {
        self.dictionary(node, "patterns", |shape, node, path| {
            let texts = shape.list(node, path, Shape::text);
            Some(texts.into_iter().map(|text| text.text).collect())
        })
    }

    fn choice<T: Copy>(&mut self, node: &Node, path: &str, message: &str, known: &[(&str, T)]) -> Option<T> {
        let read = scalar(node);
        let found = match &read {
            Read::Text(text) => known.iter().find(|(word, _)| word == text).map(|(_, value)| *value),
            _ => None,
        };
        if found.is_none() {
            self.error(&node.span, path, message);
        }
        found
    }

    fn sort(&mut self, node: &Node, path: &str) -> Option<Sort> {
        let known = [("int", Sort::Int), ("bool", Sort::Bool), ("str", Sort::Str)];
        self.choice(node, path, "Input should be 'int', 'bool' or 'str'", &known)
    }

    fn variable(&mut self, node: &Node, path: &str) -> Option<(Sort, Kept)> {
        let pairs = self.model(node, path, "StateVarEntry")?;
        let (mut sort, mut init) = (None, None);
        for (key, value) in pairs {
            match self.model_key(key, &["type", "init"], path) {
                Some("type") => sort = Some(self.sort(value, &format!("{path}.type"))),
                Some("init") => init = Some(self.init(value, &format!("{path}.init"))),
                _ => {}
            }
        }
        self.required(node, path, &[("type", sort.is_some()), ("init", init.is_some())]);
        let (sort, init) = (sort??, init??);
        let fits = matches!(
            (sort, &init),
            (Sort::Bool, Kept::Bool(_)) | (Sort::Int, Kept::Int(_)) | (Sort::Str, Kept::Str(_))
        );
        if !fits {
            let message = format!("'init' must be {}, got {}", sort.word(), init.shown(false));
            self.error(&node.span, path, &message);
            return None;
        }
        Some((sort, init))
    }

    fn init(&mut self, node: &Node, path: &str) -> Option<Kept> {
        match scalar(node) {
            Read::Bool(value) => return Some(Kept::Bool(value)),
            Read::Int(value) => return Some(Kept::Int(value)),
            Read::Text(text) => return Some(Kept::Str(text.into())),
            _ => {}
        }
        for (kind, word) in [("bool", "boolean"), ("int", "integer"), ("str", "string")] {
            self.error(&node.span, &format!("{path}.{kind}"), &format!("Input should be a valid {word}"));
        }
        None
    }

    fn required(&mut self, node: &Node, path: &str, fields: &[(&str, bool)]) {
        for (field, _) in fields.iter().filter(|(_, given)| !given) {
            self.error(&node.span, &format!("{path}.{field}"), "Field required");
        }
    }

    fn invariant(&mut self, node: &Node, path: &str) -> Option<Named<Text>> {
        let pairs = self.model(node, path, "InvariantEntry")?;
        let (mut name, mut expr) = (None, None);
        for (key, value) in pairs {
            match self.model_key(key, &["name", "expr"], path) {
                Some("name") => name = Some(self.name(value, &format!("{path}.name"))),
                Some("expr") => expr = Some(self.text(value, &format!("{path}.expr"))),
                _ => {}
            }
        }
        self.required(node, path, &[("name", name.is_some()), ("expr", expr.is_some())]);
        let (name, span) = name??;
        Some(Named { name, span, value: expr?? })
    }

    fn action(&mut self, node: &Node, path: &str) -> Option<Named<Action>> {
        const KEYS: [&str; 6] = ["name", "match", "args", "requires", "effect", "on_result"];
        let pairs = self.model(node, path, "ActionEntry")?;
        let (mut name, mut globs, mut action) = (None, None, Action::default());
        let before = self.problems.len();
        for (key, value) in pairs {
            let at = format!("{path}.{}", key.text);
            match self.model_key(key, &KEYS, path) {
                Some("name") => name = Some(self.name(value, &at)),
                Some("match") => globs = Some((self.one_or_more(value, &at), value.span.clone())),
                Some("args") => action.arguments = self.dictionary(value, &at, Shape::sort),
                Some("requires") => action.requires = self.one_or_more(value, &at),
                Some("effect") => action.effect = self.dictionary(value, &at, Shape::text),
                Some("on_result") => action.on_result = self.dictionary(value, &at, Shape::text),
                _ => {}
            }
        }
        self.required(node, path, &[("name", name.is_some()), ("match", globs.is_some())]);
        let (globs, at) = globs?;
        if globs.is_empty() && self.problems.len() == before {
            self.error(&at, path, "'match' needs at least one tool-name glob");
        }
        action.globs = globs;
        let (name, span) = name??;
        Some(Named { name, span, value: action })
    }

    fn one_or_more(&mut self, node: &Node, path: &str) -> Vec<Text> {
        match &node.value {
            Value::List(_) => self.list(node, path, Shape::text),
            _ => self.text(node, &format!("{path}.0")).into_iter().collect(),
        }
    }

    fn name(&mut self, node: &Node, path: &str) -> Option<(String, Range<usize>)> {
        if let Read::Text(text) = scalar(node) {
            return Some((text, node.span.clone()));
        }
        self.error(&node.span, path, "Input should be a valid string");
        None
    }

    fn text(&mut self, node: &Node, path: &str) -> Option<Text> {
        let read = scalar(node).text();
        if let (Some(text), Value::Scalar(written)) = (read, &node.value) {
            return Some(Text { text, place: Cel::new(self.source, written, node.span.clone()) });
        }
        self.error(&node.span, path, "Input should be a valid string");
        None
    }
}

fn scalar(node: &Node) -> Read {
    match &node.value {
        Value::Scalar(scalar) => yaml11::read(scalar),
        _ => Read::Other,
    }
}

fn resolved(key: &Key) -> Read {
    yaml11::read(&Scalar { text: key.text.clone(), style: key.style })
}

/// A key in a path; what is no text stands as Python's validator shows it.
fn shown(key: &Key) -> String {
    match resolved(key) {
        Read::Bool(value) => u8::from(value).to_string(),
        Read::Int(value) => value.to_string(),
        Read::Float(value) => python::float(value),
        _ => key.text.clone(),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
