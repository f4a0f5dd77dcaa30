//! Markdown tables on stdout.

use std::io::{self, Write};

/// Rows under a head; printed row by row, so that a run that is stopped has shown what it had.
#[derive(Debug)]
pub struct Table;

impl Table {
    /// Prints title and head.
    pub fn new(title: &str, head: &[&str]) -> io::Result<Self> {
        let mut out = io::stdout().lock();
        writeln!(out, "\n### {title}\n\n| {} |", head.join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(head.len()))?;
        Ok(Self)
    }

    /// Prints one row.
    pub fn row(&self, cells: &[String]) -> io::Result<()> {
        writeln!(io::stdout().lock(), "| {} |", cells.join(" | "))
    }
}

/// A number with three digits that matter, `–` for none.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        "–".to_owned()
    } else if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else if value.abs() >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}
