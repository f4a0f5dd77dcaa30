//! What waits for the record.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use framegate_guard::decision::Decision;
use framegate_guard::ledger::{LedgerFailure, Receipt, Recorded};
use framegate_guard::store::chain::Hash;
use framegate_guard::store::entries::Gap;
use framegate_guard::store::event::{CallRecord, EndRecord, Event, FrameRecord, FrameSent, How, Sent};
use framegate_guard::world::Instant;

use sha2::{Digest as _, Sha256};

use super::flow::{Claim, Flow, Segment};
use crate::clip::clip;

/// Bytes of frames that wait. From there on calls are refused and answers are held.
pub(super) const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Entries that wait.
pub(super) const QUEUE_ITEMS_MAX: usize = 16 * 1024;
/// How long what nobody waits for may linger, to share a transaction with what comes next.
const LINGER: Duration = Duration::from_millis(10);
/// Why an entry has no record.
const TOO_MANY: &str = "too much waited to be written already";
/// What an entry takes beside its frames.
const ITEM_BYTES: usize = 512;

/// One entry.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) what: What,
    pub(super) time: Instant,
    /// The frames without a row of their own that came before it.
    pub(super) flow: Segment,
}

#[derive(Debug)]
pub(super) enum What {
    /// A decided call.
    Call { step: u64, record: Box<CallRecord>, slot: Arc<Slot> },
    /// Anything else.
    Event(Event),
    /// The same, and somebody waits for it.
    Held(Event, Arc<Slot>),
}

impl What {
    /// The frames that it is about, and what it says of their way.
    fn frames(&self) -> impl Iterator<Item = (&Bytes, Claim)> {
        let came = |edited: bool| if edited { Claim::Edited } else { Claim::AsItIs };
        let (frame, claim, out) = match self {
            What::Call { record, .. } => (Some(&record.frame), came(record.sent == Sent::Edited), None),
            What::Event(event) | What::Held(event, _) => match event {
                Event::End(end) if matches!(end.how, How::Asked | How::Refused) => {
                    (end.frame.as_ref(), Claim::Ours, None)
                }
                Event::End(end) => (end.frame.as_ref(), came(end.out.is_some()), None),
                Event::Frame(frame) => {
                    (frame.frame.as_ref(), came(frame.sent == FrameSent::Edited), frame.out.as_ref())
                }
                Event::Method(method) => (Some(&method.frame), Claim::AsItIs, method.out.as_ref()),
                Event::Approval(_)
                | Event::Close(_)
                | Event::Heard(_)
                | Event::Overheard(_)
                | Event::State(_) => (None, Claim::AsItIs, None),
            },
        };
        let frame = frame.map(|frame| (frame, claim));
        frame.into_iter().chain(out.map(|out| (out, Claim::Ours)))
    }
}

impl Item {
    fn bytes(&self) -> usize {
        let frames: usize = self.what.frames().map(|(frame, _)| frame.len()).sum();
        frames + self.flow.waiting_bytes() + ITEM_BYTES
    }

    /// Somebody waits for it, or it is the last.
    fn is_urgent(&self) -> bool {
        matches!(self.what, What::Call { .. } | What::Held(..) | What::Event(Event::Close(_)))
    }
}

/// Entries in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    items: VecDeque<Item>,
    /// Sum over `items`.
    bytes: usize,
    /// What the thread has taken and not written yet: bytes, and how many.
    taken: (usize, usize),
    urgent: usize,
    /// The thread sleeps until it is woken; otherwise it looks again by itself within [`LINGER`].
    is_asleep: bool,
    is_closing: bool,
    /// Frames, and what became of them.
    pub(super) flow: Flow,
    /// Calls that went through unrecorded.
    gap: Option<Gap>,
    /// Entries that there was no place for.
    omitted: Option<Gap>,
    /// The record cannot be written, and calls go through.
    lets_through: bool,
    /// Who waits for room.
    waiting: Vec<Waker>,
}

impl State {
    fn is_full(&self) -> bool {
        let (bytes, items) = self.taken;
        self.bytes + bytes > QUEUE_BYTES_MAX || self.items.len() + items > QUEUE_ITEMS_MAX
    }

    /// What a side sends in a loop while nothing can be written must not fill the memory: when much waits, entries
    /// keep no frames, and when there are many, they are only counted.
    fn fit(&self, what: What) -> Option<What> {
        let What::Event(event) = what else { return Some(what) };
        if !self.is_full() {
            return Some(What::Event(event));
        }
        let most = match &event {
            Event::Close(_) => usize::MAX,
            // Each is one call's, and calls are refused by now, or counted.
            Event::End(_) | Event::Approval(_) | Event::State(_) => 2 * QUEUE_ITEMS_MAX,
            Event::Frame(_) | Event::Heard(_) | Event::Method(_) | Event::Overheard(_) => QUEUE_ITEMS_MAX,
        };
        (self.items.len() < most).then(|| What::Event(without_frames(event)))
    }

    fn wake(&mut self) {
        if !self.is_full() || self.lets_through {
            self.waiting.drain(..).for_each(Waker::wake);
        }
    }

    fn push(&mut self, item: Item) {
        self.bytes += item.bytes();
        self.urgent += usize::from(item.is_urgent());
        self.items.push_back(item);
    }
}

impl Queue {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry; the frames that came before it go with it.
    pub(super) fn push(&self, what: What, time: Instant) {
        let mut state = self.lock();
        what.frames().for_each(|(frame, claim)| state.flow.claim(frame, claim));
        self.push_to(state, what, time);
    }

    /// The same for what was seen: its frames have gone already.
    pub(super) fn push_seen(&self, what: What, time: Instant) {
        self.push_to(self.lock(), what, time);
    }

    fn push_to(&self, mut state: MutexGuard<'_, State>, what: What, time: Instant) {
        let is_full = state.is_full();
        let Some(what) = state.fit(what) else {
            return count(&mut state.omitted, time, TOO_MANY);
        };
        let mut flow = state.flow.close();
        if is_full {
            flow.let_go();
        }
        state.push(Item { what, time, flow });
        let wakes = state.urgent > 0 || state.is_asleep;
        drop(state);
        if wakes {
            self.filled.notify_one();
        }
    }

    /// A call went through unrecorded.
    pub(super) fn miss(&self, time: Instant, why: &str) {
        count(&mut self.lock().gap, time, why);
    }

    /// Entries that there was no place for so far.
    pub(super) fn omitted(&self) -> Option<Gap> {
        self.lock().omitted.clone()
    }

    /// Says how it stands with the record.
    pub(super) fn set_lets_through(&self, lets_through: bool) {
        let mut state = self.lock();
        state.lets_through = lets_through;
        state.wake();
    }

    /// What was taken is written.
    pub(super) fn written(&self) {
        let mut state = self.lock();
        state.taken = (0, 0);
        state.wake();
    }

    /// Calls that went through unrecorded so far.
    pub(super) fn gap(&self) -> Option<Gap> {
        self.lock().gap.clone()
    }

    /// These are recorded now.
    pub(super) fn gap_recorded(&self, gap: Option<&Gap>, omitted: Option<&Gap>) {
        let mut state = self.lock();
        uncount(&mut state.gap, gap);
        uncount(&mut state.omitted, omitted);
    }

    /// Whether more than may waits.
    pub(super) fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// Whether who notes something should wait: not while nothing can be written and calls go through all the same.
    pub(super) fn holds_up(&self) -> bool {
        let state = self.lock();
        state.is_full() && !state.lets_through
    }

    /// Resolves when there is room.
    pub(super) fn room(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let queue = Arc::clone(self);
        std::future::poll_fn(move |context| {
            let mut state = queue.lock();
            if !state.is_full() || state.lets_through {
                return Poll::Ready(());
            }
            state.waiting.push(context.waker().clone());
            Poll::Pending
        })
    }

    /// Nothing is added any more.
    pub(super) fn close(&self) {
        self.lock().is_closing = true;
        self.filled.notify_one();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.lock().is_closing
    }

    /// The next entries, oldest first, at most `max`; none when it is closed and empty.
    pub(super) fn take(&self, max: usize) -> Vec<Item> {
        let mut state = self.lock();
        let mut has_lingered = false;
        while state.urgent == 0 && !state.is_closing && (state.items.is_empty() || !has_lingered) {
            state.is_asleep = state.items.is_empty() && has_lingered;
            let waited = if state.is_asleep {
                self.filled.wait(state).map(|state| (state, false))
            } else {
                let waited = self.filled.wait_timeout(state, LINGER);
                waited
                    .map(|(state, timeout)| (state, timeout.timed_out()))
                    .map_err(|poisoned| PoisonError::new(poisoned.into_inner().0))
            };
            let timed_out;
            (state, timed_out) = waited.unwrap_or_else(|poisoned| (poisoned.into_inner(), true));
            // Woken out of sleep by something that may linger: it does, from now.
            has_lingered = timed_out;
        }
        state.is_asleep = false;
        let count = state.items.len().min(max);
        let items: Vec<Item> = state.items.drain(..count).collect();
        self.taken(&mut state, &items);
        items
    }

    /// All that waits.
    pub(super) fn take_all(&self) -> Vec<Item> {
        let mut state = self.lock();
        let items: Vec<Item> = state.items.drain(..).collect();
        (state.bytes, state.urgent) = (0, 0);
        items
    }

    /// Entries that are to be written later, before all that waits.
    pub(super) fn put_back(&self, items: Vec<Item>) {
        let mut state = self.lock();
        state.taken = (0, 0);
        for item in items.into_iter().rev() {
            state.bytes += item.bytes();
            state.urgent += usize::from(item.is_urgent());
            state.items.push_front(item);
        }
    }

    /// Waits at most this long: for the end, and if calls are refused for a new one, which is not to wait.
    pub(super) fn pause(&self, time: Duration, keeps_calls: bool) {
        let state = self.lock();
        if (state.urgent == 0 || keeps_calls) && !state.is_closing {
            // However it ends, what waits is tried again.
            drop(self.filled.wait_timeout(state, time));
        }
    }

    /// How many entries wait.
    pub(super) fn len(&self) -> usize {
        self.lock().items.len()
    }

    fn taken(&self, state: &mut State, items: &[Item]) {
        let bytes = items.iter().map(Item::bytes).sum::<usize>();
        state.bytes -= bytes.min(state.bytes);
        state.taken = (bytes, items.len());
        state.urgent -= items.iter().filter(|item| item.is_urgent()).count().min(state.urgent);
        state.wake();
    }
}

fn count(gap: &mut Option<Gap>, Instant(at): Instant, why: &str) {
    let gap = gap.get_or_insert_with(|| Gap { count: 0, from: at, to: at, why: why.to_owned() });
    gap.count += 1;
    gap.to = at;
}

fn uncount(gap: &mut Option<Gap>, recorded: Option<&Gap>) {
    if let (Some(left), Some(recorded)) = (gap.as_mut(), recorded) {
        left.count = left.count.saturating_sub(recorded.count);
        left.from = recorded.to;
        if left.count == 0 {
            *gap = None;
        }
    }
}

/// An entry that holds on to no frame.
fn without_frames(event: Event) -> Event {
    let hashed = |frame: Option<Bytes>| {
        let bytes = frame.as_ref().map(|frame| u64::try_from(frame.len()).unwrap_or(u64::MAX));
        (bytes, frame.map(|frame| Hash(Sha256::digest(&frame).into())))
    };
    match event {
        Event::Frame(frame) => {
            // Of what was made here, that; a refused frame's answer says nothing that its reason does not.
            let (bytes, hash) = hashed(frame.frame);
            let bytes = bytes.or(frame.frame_bytes).or_else(|| hashed(frame.out).0);
            let (frame_bytes, frame_sha256) = (bytes, hash.or(frame.frame_sha256));
            Event::Frame(FrameRecord {
                frame: None,
                out: None,
                heard: None,
                frame_bytes,
                frame_sha256,
                ..frame
            })
        }
        Event::Method(method) => {
            let (frame_bytes, frame_sha256) = hashed(Some(method.frame));
            let sent = if method.is_observed { FrameSent::Verbatim } else { FrameSent::No };
            Event::Frame(FrameRecord {
                method: clip(&method.method).into_owned(),
                frame_bytes,
                frame_sha256,
                ..FrameRecord::new(method.from, "denied", sent)
            })
        }
        Event::End(end) => Event::End(EndRecord { frame: None, out: None, heard: None, ..end }),
        event => event,
    }
}

/// Where the outcome of one call's commit is put.
#[derive(Debug, Default)]
pub(super) struct Slot(Mutex<Outcome>);

#[derive(Debug, Default)]
struct Outcome {
    committed: Option<Result<Option<Recorded>, LedgerFailure>>,
    waker: Option<Waker>,
}

impl Slot {
    /// Gives the outcome to whoever waits.
    pub(super) fn settle(&self, committed: Result<Option<Recorded>, LedgerFailure>) {
        let waker = {
            let mut outcome = self.lock();
            outcome.committed = Some(committed);
            outcome.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The outcome, once.
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<Option<Recorded>, LedgerFailure>> {
        let mut outcome = self.lock();
        if let Some(committed) = outcome.committed.take() {
            return Poll::Ready(committed);
        }
        outcome.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Outcome> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A commit that is waited for.
pub(super) struct Waiting {
    pub(super) slot: Arc<Slot>,
    pub(super) sequence: u64,
    pub(super) decision: Arc<Decision>,
}

impl Future for Waiting {
    type Output = Result<Receipt, LedgerFailure>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(committed) = self.slot.poll(context) else { return Poll::Pending };
        let decision = Arc::clone(&self.decision);
        Poll::Ready(committed.map(|recorded| Receipt { sequence: self.sequence, decision, recorded }))
    }
}

#[cfg(test)]
mod tests {
    use framegate_guard::store::event::{CloseRecord, FrameRecord, Peer};

    use super::*;

    fn frame(bytes: usize) -> What {
        let frame = Some(vec![0; bytes].into());
        What::Event(Event::Frame(FrameRecord { frame, ..FrameRecord::new(Peer::Client, "", FrameSent::No) }))
    }

    fn is_full_with(frames: impl IntoIterator<Item = usize>) -> bool {
        let queue = Queue::default();
        frames.into_iter().for_each(|bytes| queue.push(frame(bytes), Instant(0)));
        queue.is_full()
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_and_in_number() {
        let most = QUEUE_BYTES_MAX - ITEM_BYTES;
        assert!(!is_full_with([most - 1]) && !is_full_with([most]) && is_full_with([most + 1]));
        let zeros = |count| std::iter::repeat_n(0, count);
        assert!(!is_full_with(zeros(QUEUE_ITEMS_MAX - 1)) && !is_full_with(zeros(QUEUE_ITEMS_MAX)));
        assert!(is_full_with(zeros(QUEUE_ITEMS_MAX + 1)));
    }

    #[test]
    fn whoever_waits_for_room_is_woken_when_there_is_some() {
        let queue = Arc::<Queue>::default();
        queue.push(frame(QUEUE_BYTES_MAX), Instant(0));
        let mut room = Box::pin(queue.room());
        let mut context = Context::from_waker(Waker::noop());
        assert!(room.as_mut().poll(&mut context).is_pending());
        assert_eq!(queue.take(8).len(), 1);
        assert!(room.as_mut().poll(&mut context).is_pending(), "what is being written is still in memory");
        queue.written();
        assert!(room.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn what_a_side_sends_in_a_loop_while_nothing_is_written_is_kept_as_hashes_and_then_counted() {
        let queue = Queue::default();
        let held = || queue.lock().bytes;
        (0..2 * QUEUE_BYTES_MAX / (1024 * 1024)).for_each(|_| queue.push(frame(1024 * 1024), Instant(1)));
        assert!(held() < QUEUE_BYTES_MAX + 2 * 1024 * 1024, "{}", held());
        let last = queue.lock().items.back().map(|item| format!("{:?}", item.what)).unwrap();
        assert!(last.contains("frame: None") && last.contains("frame_bytes: Some(1048576)"), "{last}");
        let before = queue.len();
        (0..2 * QUEUE_ITEMS_MAX).for_each(|_| queue.push(frame(1000), Instant(2)));
        assert_eq!(queue.len(), QUEUE_ITEMS_MAX);
        let omitted = queue.omitted().unwrap();
        assert_eq!(omitted.count as usize, before + QUEUE_ITEMS_MAX);
        assert!(held() < QUEUE_BYTES_MAX + 2 * 1024 * 1024 + QUEUE_ITEMS_MAX * ITEM_BYTES);
        queue.push(What::Event(Event::Close(CloseRecord { how: String::new() })), Instant(3));
        assert_eq!(queue.len(), QUEUE_ITEMS_MAX + 1, "the end is always told");
        queue.gap_recorded(None, Some(&omitted));
        assert_eq!(queue.omitted(), None);
    }

    #[test]
    fn answers_do_not_wait_for_room_while_nothing_can_be_written_and_calls_go_through() {
        let queue = Arc::<Queue>::default();
        queue.push(frame(QUEUE_BYTES_MAX), Instant(0));
        let mut room = Box::pin(queue.room());
        let mut context = Context::from_waker(Waker::noop());
        assert!(queue.holds_up() && room.as_mut().poll(&mut context).is_pending());
        queue.set_lets_through(true);
        assert!(!queue.holds_up() && room.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn a_group_has_its_limit_and_the_order_stays() {
        let queue = Queue::default();
        (0..5).for_each(|bytes| queue.push(frame(bytes), Instant(0)));
        let sizes = |items: &[Item]| items.iter().map(|item| item.bytes() - ITEM_BYTES).collect::<Vec<_>>();
        let first = queue.take(3);
        assert_eq!(sizes(&first), [0, 1, 2]);
        queue.put_back(first);
        assert_eq!(sizes(&queue.take(4)), [0, 1, 2, 3]);
        assert_eq!(sizes(&queue.take(4)), [4]);
        queue.push(What::Event(Event::Close(CloseRecord { how: String::new() })), Instant(0));
        queue.close();
        assert_eq!(queue.take(4).len(), 1);
        assert!(queue.take(4).is_empty(), "closed and empty");
    }
}
