//! Running the validator, and telling what it found.

use super::adapter::Item;
use super::mismatch::{MISMATCHES_MAX, Mismatch, Place, clip, shown};
use super::{Schema, WORK_MAX, expansion};
use crate::json::{Kind, Value};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};

/// Evaluations up to which every mismatch is looked for; beyond, the first one.
const ALL_ERRORS_WORK_MAX: u64 = 20_000;

/// Evaluations of one value up to which any mismatch is looked for: naming it costs 200 times as much as
/// finding that there is one.
const FIRST_ERROR_COST_MAX: u64 = 2_000;

/// Names of arguments that a message lists.
const NAMES_SHOWN_MAX: usize = 12;

/// Alternatives within alternatives that are looked into.
const BRANCH_DEPTH_MAX: usize = 8;

/// See [`Schema::check`].
pub(super) fn check(schema: &Schema, value: Value<'_>) -> Vec<Mismatch> {
    let (depth, values) = size(value);
    if depth > schema.cost.depth_max {
        let expected = format!("at most {} levels of nesting", schema.cost.depth_max);
        return vec![Mismatch::new(&Place::default(), expected, format!("{depth} levels"))];
    }
    let cost = schema.cost.at(depth);
    if cost.saturating_mul(values) > WORK_MAX {
        let expected =
            format!("at most {} values: the schema looks at each {cost} times", WORK_MAX / cost.max(1));
        return vec![Mismatch::new(&Place::default(), expected, format!("{values}"))];
    }
    if schema.validator.is_valid(Item::Whole(value)) {
        return Vec::new();
    }
    let errors: Vec<ValidationError<'_>> = if cost.saturating_mul(values) <= ALL_ERRORS_WORK_MAX {
        schema.validator.iter_errors(Item::Whole(value)).collect()
    } else if cost <= FIRST_ERROR_COST_MAX {
        schema.validator.validate(Item::Whole(value)).err().into_iter().collect()
    } else {
        Vec::new()
    };
    let mut telling = Telling { schema, root: value, found: Vec::new() };
    for error in &errors {
        telling.tell(error, BRANCH_DEPTH_MAX);
    }
    if telling.found.is_empty() {
        // Never a pass: the validator said no.
        telling.add(&Place::default(), "what the tool's schema describes".into(), shown(value));
    }
    telling.found
}

/// See [`Schema::accepts`].
pub(super) fn accepts(schema: &Schema, value: Value<'_>) -> bool {
    let (depth, values) = size(value);
    depth <= schema.cost.depth_max
        && schema.cost.at(depth).saturating_mul(values) <= WORK_MAX
        && schema.validator.is_valid(Item::Whole(value))
}

/// See [`Schema::work`].
pub(super) fn work(schema: &Schema, value: Value<'_>) -> u64 {
    let (depth, values) = size(value);
    // What is nested too deep is refused unread.
    if depth > schema.cost.depth_max { values } else { schema.cost.at(depth).saturating_mul(values) }
}

/// How deep a value is nested, and how many values it holds.
fn size(value: Value<'_>) -> (usize, u64) {
    let span = value.span();
    let mut ends: Vec<usize> = Vec::new();
    let (mut depth, mut values) = (0, 0);
    let inside = value.document().all().skip(value.ordinal() as usize);
    for part in inside.take_while(|part| part.span().start < span.end) {
        let at = part.span();
        while ends.last().is_some_and(|end| *end <= at.start) {
            ends.pop();
        }
        values += 1;
        if matches!(part.kind(), Kind::Array | Kind::Object) {
            ends.push(at.end);
            depth = depth.max(ends.len());
        }
        if depth > expansion::DEPTH_MAX {
            break;
        }
    }
    (depth, values)
}

struct Telling<'a> {
    schema: &'a Schema,
    root: Value<'a>,
    found: Vec<Mismatch>,
}

impl Telling<'_> {
    fn add(&mut self, place: &Place, expected: String, got: String) {
        let mismatch = Mismatch::new(place, expected, got);
        if self.found.len() < MISMATCHES_MAX && !self.found.contains(&mismatch) {
            self.found.push(mismatch);
        }
    }

    fn tell(&mut self, error: &ValidationError<'_>, branches: usize) {
        if self.found.len() >= MISMATCHES_MAX {
            return;
        }
        let (place, value) = Place::find(self.root, error.instance_path().as_str());
        let got = value.map_or_else(|| "nothing".to_owned(), shown);
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                self.add(&place.member(name), "a value: it is required".into(), "nothing".into());
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                self.unexpected(&place, value, unexpected);
            }
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                self.alternatives(&place, got, context, branches);
            }
            ValidationErrorKind::PropertyNames { error } => {
                let expected = simple(error.kind()).unwrap_or_else(|| "another name".into());
                self.add(&place, format!("every name to be {expected}"), got);
            }
            kind => {
                let expected =
                    simple(kind).unwrap_or_else(|| format!("to satisfy `{}`", clip(kind.keyword())));
                self.add(&place, expected, got);
            }
        }
    }

    fn unexpected(&mut self, place: &Place, value: Option<Value<'_>>, names: &[String]) {
        let declared = &self.schema.names.declared;
        let expected = if place.path.is_empty() && !declared.is_empty() {
            let mut list: Vec<String> =
                declared.iter().take(NAMES_SHOWN_MAX).map(|name| clip(name)).collect();
            if declared.len() > list.len() {
                list.push("…".into());
            }
            format!("no argument of this name (there are: {})", list.join(", "))
        } else {
            "no member of this name".into()
        };
        for name in names.iter().take(MISMATCHES_MAX) {
            let got = value.and_then(|value| value.get(name)).map_or_else(|| "it".into(), shown);
            self.add(&place.member(name), expected.clone(), got);
        }
    }

    /// The branch that comes closest speaks for all; where none is closer, their types do.
    fn alternatives(
        &mut self,
        place: &Place,
        got: String,
        context: &[Vec<ValidationError<'static>>],
        branches: usize,
    ) {
        let wrong_here = |errors: &[ValidationError<'_>]| {
            errors.iter().filter(|error| same_depth(error, place) && is_about_the_whole(error.kind())).count()
        };
        let closest = context.iter().min_by_key(|errors| (wrong_here(errors), errors.len()));
        match closest {
            Some(errors) if branches > 0 && wrong_here(errors) == 0 => {
                for error in errors {
                    self.tell(error, branches - 1);
                }
            }
            _ => {
                let mut wanted: Vec<String> = Vec::new();
                for wish in context.iter().flatten().filter_map(|error| simple(error.kind())) {
                    if !wanted.contains(&wish) && wanted.len() < NAMES_SHOWN_MAX {
                        wanted.push(wish);
                    }
                }
                let expected = match &wanted[..] {
                    [] => "one of the schema's alternatives".into(),
                    wanted => wanted.join(" or "),
                };
                self.add(place, expected, got);
            }
        }
    }
}

/// Whether an error is about the very value at `place`.
fn same_depth(error: &ValidationError<'_>, place: &Place) -> bool {
    let segments = |pointer: &str| pointer.matches('/').count();
    segments(error.instance_path().as_str()) <= segments(&place.pointer)
}

/// Errors that say "this is not the alternative that was meant".
fn is_about_the_whole(kind: &ValidationErrorKind) -> bool {
    match kind {
        ValidationErrorKind::Type { .. } | ValidationErrorKind::FalseSchema => true,
        ValidationErrorKind::Custom { keyword, .. } => {
            keyword.ends_with("const") || keyword.ends_with("enum")
        }
        _ => false,
    }
}

/// What was expected, for kinds that say it themselves.
fn simple(kind: &ValidationErrorKind) -> Option<String> {
    use ValidationErrorKind as Is;
    Some(match kind {
        Is::Type { kind } => types(kind),
        Is::Custom { message, .. } => message.clone(),
        Is::MinLength { limit } => format!("at least {limit} characters"),
        Is::MaxLength { limit } => format!("at most {limit} characters"),
        Is::MinItems { limit } => format!("at least {limit} items"),
        Is::MaxItems { limit } => format!("at most {limit} items"),
        Is::AdditionalItems { limit } => format!("at most {limit} items"),
        Is::UnevaluatedItems { .. } => "no further items".into(),
        Is::MinProperties { limit } => format!("at least {limit} members"),
        Is::MaxProperties { limit } => format!("at most {limit} members"),
        Is::Pattern { pattern } => format!("text that matches {}", clip(pattern)),
        Is::BacktrackLimitExceeded { .. } | Is::RegexEngineFailure { .. } => {
            "text that the schema's pattern can be decided on".into()
        }
        Is::UniqueItems => "items that are all different".into(),
        Is::Contains => "the items that `contains` asks for".into(),
        Is::FalseSchema => "nothing here".into(),
        Is::Not { .. } => "anything but what `not` describes".into(),
        Is::OneOfMultipleValid { .. } => "exactly one of the alternatives to fit, several do".into(),
        Is::ContentEncoding { content_encoding } => format!("text encoded as {}", clip(content_encoding)),
        Is::ContentMediaType { content_media_type } => format!("text that is {}", clip(content_media_type)),
        _ => return None,
    })
}

fn types(kind: &TypeKind) -> String {
    let name = |kind: JsonType| kind.to_string();
    match kind {
        TypeKind::Single(one) => name(*one),
        TypeKind::Multiple(several) => several.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}
