//! One bounded queue and one thread for everything that goes to stderr: our lines and the
//! server's.
//!
//! Whoever reads stderr may read slowly or not at all. Neither the pump nor the server may wait
//! for that: lines that find the queue full are dropped and counted.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that wait, at most.
const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// Memory that is kept for the next batch: what a busy session writes in [`GATHER`]. Giving it back
/// each time would cost that session a page fault for every 50 lines.
const KEPT_BYTES: usize = 256 * 1024;
/// After a wake-up, how long to let lines gather: a write for each line would cost a busy
/// session a switch of threads for each call.
const GATHER: Duration = Duration::from_millis(2);

#[derive(Default)]
struct Queue {
    /// Whole lines. INVARIANT: `text.len() <= QUEUE_BYTES_MAX`, or one line.
    text: Vec<u8>,
    dropped_lines: u64,
    writing: bool,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
    emptied: Condvar,
}

/// Where lines for people go. Cheap to clone.
#[derive(Clone)]
pub struct Stderr {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Stderr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stderr")
    }
}

impl Stderr {
    /// A queue with a thread that writes to this process's stderr.
    pub fn start() -> Self {
        Self::to(std::io::stderr())
    }

    /// A queue with a thread that writes to `out`.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        // Without a thread lines pile up to the bound and are counted; nothing else suffers.
        let _ = std::thread::Builder::new()
            .name("stderr".into())
            .stack_size(128 * 1024)
            .spawn(move || write_all(&theirs, out));
        Self { shared }
    }

    /// Queues a line of text; the LF is added.
    pub fn line(&self, text: &str) {
        self.append(text.len() + 1, |queue| {
            queue.extend_from_slice(text.as_bytes());
            queue.push(b'\n');
        });
    }

    /// Queues whole lines of the server's.
    pub(crate) fn bytes(&self, lines: &[u8]) {
        self.append(lines.len(), |queue| queue.extend_from_slice(lines));
    }

    /// Queues a line of about `size` bytes that `write` appends, with its LF. It is written in place:
    /// boxing it for the writer's thread costs more than making it.
    pub(crate) fn append(&self, size: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.shared.lock();
        if queue.text.len() + size > QUEUE_BYTES_MAX {
            queue.dropped_lines += 1;
            return;
        }
        let was_empty = queue.text.is_empty();
        write(&mut queue.text);
        drop(queue);
        // One wake-up for all lines of a batch: the thread is on its way, or gathers.
        if was_empty {
            self.shared.filled.notify_one();
        }
    }

    /// Waits until everything is written, at most this long.
    pub fn flush(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let mut queue = self.shared.lock();
        while !queue.text.is_empty() || queue.writing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue.closed = true;
            self.shared.filled.notify_one();
            queue = self.shared.emptied.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_all(shared: &Shared, mut out: impl Write) {
    let mut text = Vec::new();
    loop {
        let mut queue = shared.lock();
        while queue.text.is_empty() {
            queue = shared.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if !queue.closed {
            drop(queue);
            std::thread::sleep(GATHER);
            queue = shared.lock();
        }
        text.clear();
        std::mem::swap(&mut queue.text, &mut text);
        let dropped = std::mem::take(&mut queue.dropped_lines);
        queue.writing = true;
        drop(queue);
        if dropped > 0 {
            text.extend_from_slice(
                format!("framegate: {dropped} lines were dropped here: stderr is read too slowly\n")
                    .as_bytes(),
            );
        }
        write_patiently(&mut out, &text);
        text.shrink_to(KEPT_BYTES);
        shared.lock().writing = false;
        shared.emptied.notify_all();
    }
}

/// Writes all of it. Somebody who shares our stderr may have made it non-blocking: then a full
/// pipe is no error, and this thread has time. Any other error means that nobody reads, which is
/// no reason to stop or to try for ever: reported proxies span at 100 % on EPIPE.
fn write_patiently(out: &mut impl Write, mut text: &[u8]) {
    const FULL_PIPE_WAIT: Duration = Duration::from_millis(2);
    while !text.is_empty() {
        match out.write(text) {
            Ok(0) => return,
            Ok(n) => text = text.get(n..).unwrap_or_default(),
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => std::thread::sleep(FULL_PIPE_WAIT),
            Err(_) => return,
        }
    }
    // Stderr is unbuffered; a test's writer may not be, and cannot fail in a way that matters.
    let _ = out.flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    struct Gate(mpsc::Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.recv();
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Takes a few bytes, then says that it is full.
    #[derive(Default)]
    struct NonBlocking {
        taken: Vec<u8>,
        full: bool,
    }

    impl Write for NonBlocking {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.full = !self.full;
            if self.full {
                return Err(std::io::ErrorKind::WouldBlock.into());
            }
            let n = bytes.len().min(7);
            self.taken.extend_from_slice(&bytes[..n]);
            Ok(n)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_pipe_that_does_not_block_loses_nothing() {
        let mut out = NonBlocking::default();
        write_patiently(&mut out, b"a line that takes several writes\n");
        assert_eq!(out.taken, b"a line that takes several writes\n");
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_not_time() {
        let (open, gate) = mpsc::channel();
        let out = Arc::new(Mutex::new(Vec::new()));
        let stderr = Stderr::to(Gate(gate, Arc::clone(&out)));
        let line = "x".repeat(1000);
        for _ in 0..5000 {
            stderr.line(&line);
        }
        drop(open);
        stderr.flush(Duration::from_secs(10));
        stderr.line("last");
        stderr.flush(Duration::from_secs(10));
        let text = String::from_utf8(out.lock().unwrap().clone()).unwrap();
        assert!(text.contains("lines were dropped here"), "{} bytes", text.len());
        assert!(text.ends_with("last\n"));
        assert!(text.len() < 3 * QUEUE_BYTES_MAX);
    }
}
