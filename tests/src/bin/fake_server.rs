//! The fake MCP server: see `framegate_tests::server` for its modes.

use std::process::ExitCode;

fn main() -> ExitCode {
    framegate_tests::server::main()
}
