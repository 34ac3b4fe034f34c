//! Sends cancel requests for timed-out statements on separate connections and on a separate thread, off the load path.

use std::io::{Read, Write};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wire::Cancel;

use super::line::Stream;
use super::probe;
use crate::job::Peer;

/// Max cancel requests in the queue; more are dropped.
const WAITING_MAX: usize = 64;
/// Time-out of each step of a cancel request: connecting, log-in, and the peer's answer.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Lock that lets one cancel request through at a time, over all threads of a load. MariaDB's `KILL` of statements in `SLEEP()`
/// holds one lock and waits for another, so two at once block each other for up to two seconds. Each load has its own lock, so a
/// server that does not answer does not delay the cancel requests of other loads.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelLock(Arc<Mutex<()>>);

/// Cancel request, and the peer to send it to.
type CancelRequest = (Peer, Cancel);
/// Result of a cancel request; the error is a sentence.
type CancelResult = Result<(), String>;

/// Sender of cancel requests. Starts its thread with the first request.
pub(crate) struct Canceller {
    turn: CancelLock,
    way: Option<(SyncSender<CancelRequest>, Receiver<CancelResult>)>,
    /// Number of cancel requests without a result so far.
    pending_count: u32,
}

impl Canceller {
    /// Creates a sender that shares `turn` with the other threads of the load.
    pub(crate) fn new(turn: CancelLock) -> Self {
        Self { turn, way: None, pending_count: 0 }
    }

    /// Queues a cancel request. The error says why it cannot be queued.
    pub(crate) fn send(&mut self, peer: Peer, cancel: Cancel) -> CancelResult {
        let (orders, _) = self.way.get_or_insert_with(|| {
            let (orders, to_do) = mpsc::sync_channel(WAITING_MAX);
            let (done, reports) = mpsc::channel();
            // If the thread cannot be started, each request fails in `try_send`.
            let turn = self.turn.clone();
            let _ =
                thread::Builder::new().name("cancel".to_owned()).spawn(move || work(&to_do, &done, &turn));
            (orders, reports)
        });
        let sent = orders.try_send((peer, cancel));
        sent.map_err(|_| format!("{WAITING_MAX} others wait to be ended"))?;
        self.pending_count += 1;
        Ok(())
    }

    /// Returns the next result, if one arrives in time. `None` if none does, or if no cancel request is pending.
    pub(crate) fn report(&mut self, within: Duration) -> Option<CancelResult> {
        let (_, reports) = self.way.as_ref().filter(|_| self.pending_count > 0)?;
        let report = reports.recv_timeout(within).ok()?;
        self.pending_count -= 1;
        Some(report)
    }

    /// Returns the number of cancel requests without a result so far.
    pub(crate) fn pending_count(&self) -> u32 {
        self.pending_count
    }
}

fn work(orders: &Receiver<CancelRequest>, done: &Sender<CancelResult>, turn: &CancelLock) {
    for (peer, cancel) in orders {
        let turn = turn.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = match cancel {
            Cancel::Bytes(bytes) => send(&peer, bytes),
            Cancel::Request(mut channel) => match probe::ask_channel(&peer, &mut *channel, TIMEOUT) {
                Ok((reply, _)) => reply.rejection.map_or(Ok(()), |rejection| Err(channel.explain(rejection))),
                Err(error) => Err(error.to_string()),
            },
        };
        drop(turn);
        // The receiver may be gone; the statement had to be canceled anyway.
        let _ = done.send(report);
    }
}

/// Sends bytes over an unencrypted connection, and waits until the peer closes it: the peer has then processed them.
fn send(peer: &Peer, bytes: [u8; 16]) -> CancelResult {
    let endpoint = &peer.endpoints[0];
    let sent = Stream::open(endpoint, TIMEOUT).and_then(|mut stream| {
        stream.write_all(&bytes)?;
        stream.read(&mut [0])
    });
    sent.map(drop).map_err(|error| format!("{endpoint}: {error}"))
}
