//! A tool's result as it is written.

use serde::Deserialize;
use serde_json::value::RawValue;

/// What of a tool's result is read.
#[derive(Deserialize)]
struct ToolResult<'a> {
    #[serde(borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(rename = "isError", default)]
    is_error: Option<bool>,
}

/// A task with its outcome inside (2026-07-28).
#[derive(Deserialize)]
struct Task<'a> {
    #[serde(rename = "taskId")]
    id: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// What stands in a `result` that is a task which has ended.
#[must_use]
pub fn task_outcome(result: &str) -> Option<&str> {
    let task: Task<'_> = serde_json::from_str(result).ok()?;
    task.id.and(task.result).map(RawValue::get)
}

/// The tool's result that a `result` is, or that stands in it where that is a task which has ended.
#[must_use]
pub fn tool_result(result: &str) -> &str {
    task_outcome(result).unwrap_or(result)
}

/// Whether a `result` says that its call failed, wherever in it that stands.
#[must_use]
pub fn says_error(result: &str) -> bool {
    read(result).and_then(|result| result.is_error) == Some(true)
}

/// The `structuredContent` of a `result`, as it is written.
#[must_use]
pub fn structured(result: &str) -> Option<&str> {
    read(result)?.structured.map(RawValue::get)
}

fn read(result: &str) -> Option<ToolResult<'_>> {
    serde_json::from_str(tool_result(result)).ok()
}
