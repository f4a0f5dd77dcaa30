//! The crate's parser, with its messages made readable.

use super::super::scan::{Scan, problem};
use super::Problem;

use ::cel::common::ast::{IdedExpr, SourceInfo};

/// Errors that are passed on: what follows the first ones is mostly their echo.
const ERRORS_SHOWN: usize = 3;

/// The generated parser takes about 40 KiB of stack a level in a debug build, more than a thread has for
/// [`super::super::DEPTH_MAX`] levels. Reserved, not used: a short expression touches a few pages.
const STACK_BYTES: usize = 32 << 20;

pub(super) fn parse(scan: &Scan, source: &str) -> Result<(IdedExpr, SourceInfo), Vec<Problem>> {
    let unreadable = || vec![problem("this cannot be read", 0..source.len())];
    // No macros: has(), all() and the others stay calls, with their places.
    let run = || ::cel::Env::default().parser().parse_with_source_info(&scan.parsed);
    // The parser's runtime panics on what it believes impossible; in its own thread that is an error here.
    let outcome = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run);
        thread.ok().and_then(|thread| thread.join().ok())
    });
    let errors = match outcome {
        Some(Ok(parsed)) => return Ok(parsed),
        Some(Err(errors)) => errors.errors,
        None => return Err(unreadable()),
    };
    let mut problems: Vec<Problem> = Vec::new();
    for error in errors {
        let at = offset(source, error.pos);
        let problem = readable(scan, source, at, &error.msg);
        if !problems.iter().any(|other| other.span == problem.span) {
            problems.push(problem);
        }
    }
    problems.truncate(ERRORS_SHOWN);
    if problems.is_empty() {
        problems = unreadable();
    }
    Err(problems)
}

/// `pos` is a line and a column in characters, both counted from one.
fn offset(source: &str, pos: (isize, isize)) -> usize {
    let (Ok(line), Ok(column)) = (usize::try_from(pos.0), usize::try_from(pos.1)) else { return 0 };
    let start: usize = source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = source.get(start..).unwrap_or_default();
    let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
    start + within
}

fn readable(scan: &Scan, source: &str, at: usize, message: &str) -> Problem {
    let token = scan.tokens.iter().find(|token| token.span.end > at);
    let span = token.map_or(source.len()..source.len(), |token| token.span.clone());
    let text = source.get(span.clone()).unwrap_or_default();
    if message.starts_with("invalid string literal") {
        return problem("the text holds an escape that does not exist", span);
    }
    if message.starts_with("reserved identifier") {
        return problem(format!("`{text}` is a reserved word"), span);
    }
    if message.contains("Recursion limit") {
        return problem("the expression is nested too deep", 0..source.len());
    }
    let before = scan.tokens.iter().rfind(|token| token.span.end <= at);
    let words = [token, before].into_iter().flatten();
    if let Some(slip) = words.into_iter().find_map(|token| other_word(source, &token.span)) {
        return slip;
    }
    match token {
        None => problem("the expression ends too early", span),
        Some(_) => problem(format!("`{text}` does not belong here"), span),
    }
}

/// Operators as other languages write them.
fn other_word(source: &str, span: &std::ops::Range<usize>) -> Option<Problem> {
    let word = source.get(span.clone())?;
    let hint = match word.to_ascii_lowercase().as_str() {
        "and" => "write `&&` for and",
        "or" => "write `||` for or",
        "not" => super::NOT,
        _ => return None,
    };
    let message = format!("`{word}` does not belong here");
    Some(Problem { message, hint: Some(hint.to_owned()), span: span.clone() })
}
