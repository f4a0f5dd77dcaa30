#![expect(clippy::unwrap_used, reason = "a failing test may panic")]
