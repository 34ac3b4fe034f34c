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
pub(crate) struct Turn(Arc<Mutex<()>>);

/// Cancel request, and the peer to send it to.
type Order = (Peer, Cancel);
/// Result of a cancel request; the error is a sentence.
type Report = Result<(), String>;

/// Sender of cancel requests. Starts its thread with the first request.
pub(crate) struct Canceller {
    turn: Turn,
    way: Option<(SyncSender<Order>, Receiver<Report>)>,
    /// Number of cancel requests without a result so far.
    under_way: u32,
}

impl Canceller {
    /// Creates a sender that shares `turn` with the other threads of the load.
    pub(crate) fn new(turn: Turn) -> Self {
        Self { turn, way: None, under_way: 0 }
    }

    /// Queues a cancel request. The error says why it cannot be queued.
    pub(crate) fn send(&mut self, peer: Peer, cancel: Cancel) -> Report {
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
        self.under_way += 1;
        Ok(())
    }

    /// Returns the next result, if one arrives in time. `None` if none does, or if no cancel request is pending.
    pub(crate) fn report(&mut self, within: Duration) -> Option<Report> {
        let (_, reports) = self.way.as_ref().filter(|_| self.under_way > 0)?;
        let report = reports.recv_timeout(within).ok()?;
        self.under_way -= 1;
        Some(report)
    }

    /// Returns the number of cancel requests without a result so far.
    pub(crate) fn under_way(&self) -> u32 {
        self.under_way
    }
}

fn work(orders: &Receiver<Order>, done: &Sender<Report>, turn: &Turn) {
    for (peer, cancel) in orders {
        let turn = turn.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = match cancel {
            Cancel::Bytes(bytes) => send(&peer, bytes),
            Cancel::Request(mut channel) => match probe::ask_channel(&peer, &mut *channel, TIMEOUT) {
                Ok((reply, _)) => reply.refusal.map_or(Ok(()), |refusal| Err(channel.explain(refusal))),
                Err(error) => Err(error.to_string()),
            },
        };
        drop(turn);
        // The receiver may be gone; the statement had to be canceled anyway.
        let _ = done.send(report);
    }
}

/// Sends bytes over an unencrypted connection, and waits until the peer closes it: the peer has then processed them.
fn send(peer: &Peer, bytes: [u8; 16]) -> Report {
    let endpoint = &peer.endpoints[0];
    let sent = Stream::open(endpoint, TIMEOUT).and_then(|mut stream| {
        stream.write_all(&bytes)?;
        stream.read(&mut [0])
    });
    sent.map(drop).map_err(|error| format!("{endpoint}: {error}"))
}
