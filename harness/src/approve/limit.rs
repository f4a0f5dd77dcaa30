//! How often a person is asked. An agent that asks without end is trying for the one yes that is not read.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time over which the first of [`Limits`] counts.
const WINDOW: Duration = Duration::from_secs(60);

/// How many questions there may be (`limits:` of the policy).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Within a minute.
    pub(crate) minute: usize,
    /// In a session.
    pub(crate) session: usize,
}

/// The questions of one session.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    /// Those of the last minute, oldest first.
    recent: VecDeque<Instant>,
    all: usize,
}

impl Limit {
    /// Counts one question more.
    ///
    /// # Errors
    /// Why there may be none now, for the model.
    pub(crate) fn take(&mut self, now: Instant, limits: Limits) -> Result<(), String> {
        let is_over = |asked: &Instant| now.saturating_duration_since(*asked) >= WINDOW;
        while self.recent.front().is_some_and(is_over) {
            self.recent.pop_front();
        }
        if self.all >= limits.session {
            return Err(format!(
                "{} questions were asked in this session, and there may be no more",
                limits.session
            ));
        }
        if self.recent.len() >= limits.minute {
            return Err(format!(
                "{} questions were asked within a minute, and there may be no more in it; wait before the next call that asks",
                limits.minute
            ));
        }
        self.recent.push_back(now);
        self.all += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_and_a_session_have_their_limits() {
        let limits = Limits { minute: 3, session: 5 };
        let (mut limit, start) = (Limit::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        for second in [0, 1, 2] {
            limit.take(after(second), limits).unwrap();
        }
        assert!(limit.take(after(59), limits).unwrap_err().contains("within a minute"));
        limit.take(after(60), limits).unwrap();
        assert!(limit.take(after(60), limits).is_err(), "the others are of this minute still");
        limit.take(after(61), limits).unwrap();
        assert!(limit.take(after(600), limits).unwrap_err().contains("in this session"));
        assert!(Limit::default().take(start, Limits { minute: 0, session: 5 }).is_err());
    }
}
