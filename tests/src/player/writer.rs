//! The client's stdin side: one thread owns the pipe, so a stalled wrapper stalls only that thread.

use std::{
    io::Write,
    process::ChildStdin,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use crate::transcript::Chunking;

const PIECE_BYTES_MAX: usize = 1 << 16;

/// A handle to the thread. Orders are carried out in the order they were given.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    orders: Sender<Order>,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug)]
enum Order {
    Close,
    Write { bytes: Vec<u8>, chunking: Chunking, done: Sender<()> },
}

#[derive(Debug, Default)]
struct Log {
    sent: Vec<u8>,
    fault: Option<String>,
}

impl Writer {
    pub(super) fn start(stdin: ChildStdin) -> Self {
        let (orders, inbox) = channel();
        let log = Arc::new(Mutex::new(Log::default()));
        let writer = Self { orders, log: Arc::clone(&log) };
        thread::spawn(move || carry_out(&inbox, stdin, &log));
        writer
    }

    /// Writes and waits until the pipe has taken all of it.
    pub(super) fn send(&self, bytes: Vec<u8>, chunking: Chunking, within: Duration) -> Result<(), String> {
        let length = bytes.len();
        let done = self.order(bytes, chunking);
        match done.recv_timeout(within) {
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                Err(format!("the wrapper did not take {length} bytes in {} ms", within.as_millis()))
            }
            // A closed channel is a closed stdin: the fault is in the log, and some cases want it.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes whenever the pipe takes it.
    pub(super) fn send_later(&self, bytes: Vec<u8>) {
        self.order(bytes, Chunking::Prime(PIECE_BYTES_MAX));
    }

    /// EOF, after everything ordered before.
    pub(super) fn close(&self) {
        // A thread that is gone has closed already.
        let _closed = self.orders.send(Order::Close);
    }

    pub(super) fn sent(&self) -> Vec<u8> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).sent.clone()
    }

    pub(super) fn fault(&self) -> Option<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).fault.clone()
    }

    fn order(&self, bytes: Vec<u8>, chunking: Chunking) -> Receiver<()> {
        let (done, wait) = channel();
        if self.orders.send(Order::Write { bytes, chunking, done }).is_err() {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.fault.get_or_insert_with(|| "a write after stdin was closed".to_owned());
        }
        wait
    }
}

fn carry_out(inbox: &Receiver<Order>, mut stdin: ChildStdin, log: &Mutex<Log>) {
    while let Ok(Order::Write { bytes, chunking, done }) = inbox.recv() {
        let with_log = || log.lock().unwrap_or_else(PoisonError::into_inner);
        with_log().sent.extend_from_slice(&bytes);
        for piece in chunking.pieces(&bytes) {
            if let Err(error) = stdin.write_all(piece) {
                with_log().fault.get_or_insert_with(|| format!("a write failed: {error}"));
                break;
            }
            chunking.pause();
        }
        // Nobody waits for a background write.
        let _background = done.send(());
    }
}
