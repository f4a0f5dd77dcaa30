//! Plays a case's client side against a wrapper and says what was wrong.

mod client;
mod heard;
mod record;
mod session;
mod writer;

use std::{
    ffi::OsString,
    thread,
    time::{Duration, Instant},
};

pub use client::{Client, Setup};
pub use record::Record;
pub use session::Session;

use crate::{
    Wrapper,
    case::{Case, Server, Step},
    process,
};

/// How long a write the client waits for may take.
const WRITE_WITHIN: Duration = Duration::from_secs(60);
/// How long the wrapper may take to end once the case is over and nothing is checked any more.
const SETTLE_WITHIN: Duration = Duration::from_secs(4);
const LEFTOVER_WITHIN: Duration = Duration::from_secs(3);

/// What a played case left behind.
#[derive(Debug)]
#[must_use = "a failure is in here, not in a panic"]
pub struct Outcome {
    /// One sentence each.
    pub failures: Vec<String>,
    /// What the client got.
    pub received: Vec<u8>,
    /// The wrapper's stderr.
    pub stderr: Vec<u8>,
    /// Case, title, what is right.
    heading: String,
}

impl Outcome {
    /// Panics with everything one needs to find the fault.
    pub fn assert_ok(&self) {
        let tail = &self.stderr[self.stderr.len().saturating_sub(1500)..];
        assert!(
            self.failures.is_empty(),
            "{}\n  - {}\n  stderr of the wrapper: {}",
            self.heading,
            self.failures.join("\n  - "),
            String::from_utf8_lossy(tail)
        );
    }
}

/// Plays one case.
pub fn play(case: &Case, wrapper: &Wrapper) -> Outcome {
    let record = Record::new(&case.id);
    let server = match &case.server {
        Server::Command(command) => command.iter().map(OsString::from).collect(),
        Server::Fake { mode, more } => wrapper.fake_server(mode, &case.file, record.path(), more),
    };
    let setup = Setup {
        command: wrapper.around(server),
        directory: record.path().to_owned(),
        env: case.env.clone(),
        replies: case.replies.clone(),
        leave_stderr_unread: case.leave_stderr_unread,
    };
    let heading = format!("{} {}\n  right is: {}", case.id, case.title, case.expect);
    let client = match Client::start(setup) {
        Ok(client) => client,
        Err(error) => {
            return Outcome { failures: vec![error], received: vec![], stderr: vec![], heading };
        }
    };
    let mut play = Play {
        started: Instant::now(),
        cpu_mark: None,
        failures: Vec::new(),
        wrapped: !wrapper.is_direct(),
        case,
        client,
        record,
    };
    play.steps();
    play.check();
    Outcome {
        failures: play.failures,
        received: play.client.received(),
        stderr: play.client.stderr(),
        heading,
    }
}

/// A case being played. `client` is dropped before `record`: it ends the processes that write there.
struct Play<'a> {
    started: Instant,
    cpu_mark: Option<(Duration, Instant)>,
    failures: Vec<String>,
    wrapped: bool,
    case: &'a Case,
    client: Client,
    record: Record,
}

impl Play<'_> {
    fn steps(&mut self) {
        if self.case.checks.rss_mib_max.is_some() {
            self.client.watch_memory();
        }
        for step in &self.case.steps {
            if let Err(failure) = self.step(step) {
                self.failures.push(failure);
            }
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::CheckCpuBelow(share) => self.cpu_below(*share)?,
            Step::CheckNoZombie => match process::zombies_of(self.client.pid()) {
                0 => {}
                count => return Err(format!("{count} unreaped child of the wrapper")),
            },
            Step::CloseStderr => self.client.close_stderr(),
            Step::CloseStdin => self.client.close_stdin(),
            Step::CloseStdout => self.client.close_stdout(),
            Step::MarkCpu => {
                let used = process::cpu_time(self.client.pid());
                self.cpu_mark = used.map(|used| (used, Instant::now()));
            }
            Step::Send { bytes, background: true } => self.client.send_later(bytes.clone()),
            Step::Send { bytes, background: false } => {
                self.client.send(bytes.clone(), WRITE_WITHIN)?;
            }
            Step::Signal(signal) => process::signal(self.client.pid().cast_signed(), *signal),
            Step::SignalGroup(signal) => {
                process::signal_group(self.client.pid().cast_signed(), *signal);
            }
            Step::Sleep(pause) => thread::sleep(*pause),
            Step::StartReading => self.client.read_on(true),
            Step::StopReading => self.client.read_on(false),
            Step::WaitId { id, within } => self.client.wait_id(id, *within)?,
            Step::WaitServerGot { text, within } => self.record.wait_server_got(text, *within)?,
        }
        Ok(())
    }

    fn cpu_below(&self, share_max: f64) -> Result<(), String> {
        let (Some((before, since)), Some(now)) = (self.cpu_mark, process::cpu_time(self.client.pid())) else {
            return Err("the wrapper was gone when its processor time was due".to_owned());
        };
        let share = now.saturating_sub(before).as_secs_f64() / since.elapsed().as_secs_f64().max(0.01);
        if share > share_max {
            return Err(format!("the wrapper used {share:.2} of a core while idle"));
        }
        Ok(())
    }

    fn check(&mut self) {
        self.check_end();
        if self.case.checks.no_leftover {
            let within = self.case.checks.leftover_within.unwrap_or(LEFTOVER_WITHIN);
            let left = self.record.wait_no_leftover(within);
            if !left.is_empty() {
                let left: Vec<String> = left.iter().map(ToString::to_string).collect();
                self.failures.push(format!("processes left: {}", left.join(", ")));
            }
        }
        let took = self.started.elapsed();
        if let Some(most) = self.case.checks.time_max.filter(|most| took > *most) {
            self.failures.push(format!("took {} ms > {}", took.as_millis(), most.as_millis()));
        }
        self.settle();
        self.check_bytes();
    }

    fn check_end(&mut self) {
        let checks = &self.case.checks;
        if let Some(wanted) = checks.alive_at_end {
            thread::sleep(Duration::from_millis(100));
            let alive = self.client.exit_code().is_none();
            if alive != wanted {
                self.failures.push(format!("the wrapper alive={alive}, expected {wanted}"));
            }
        }
        let Some(within) = checks.exit_within else { return };
        let Some(code) = self.client.wait_exit(within) else {
            let text = format!("the wrapper still ran {} ms after the last step", within.as_millis());
            return self.failures.push(text);
        };
        if checks.exit_code.is_some_and(|wanted| !wanted.allows(code)) {
            self.failures.push(format!("exit code {code}, expected {:?}", checks.exit_code));
        }
        if let Some(most) = checks.rss_mib_max.filter(|_| self.wrapped) {
            let peak = self.client.peak_rss_mib();
            if peak > most {
                self.failures.push(format!("peak memory of the wrapper {peak} MiB > {most}"));
            }
        }
    }

    /// Lets the last bytes arrive, so that what is compared is not a matter of luck.
    fn settle(&mut self) {
        if self.client.exit_code().is_none() {
            thread::sleep(Duration::from_millis(200));
            self.client.close_stdin();
        }
        self.client.wait_exit(SETTLE_WITHIN);
        self.record.wait_no_leftover(Duration::from_millis(500));
        self.client.wait_output_end(Duration::from_secs(1));
    }

    fn check_bytes(&mut self) {
        let checks = &self.case.checks;
        let (server_got, sent) = (self.record.server_got(), self.client.sent());
        let (received, server_sent) = (self.client.received(), self.record.server_sent());
        self.failures.extend(checks.c2s.failures("client->server", &server_got, &sent));
        self.failures.extend(checks.s2c.failures("server->client", &received, &server_sent));
        self.failures.extend(checks.stderr(&self.client.stderr()));
        // A failed write is no fault by itself, some cases are about one; it explains the others.
        if !self.failures.is_empty() {
            self.failures.extend(self.client.write_fault().map(|text| format!("(note) {text}")));
        }
    }
}
