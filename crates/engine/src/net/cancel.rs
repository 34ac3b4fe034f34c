//! Ends on the peer what was given up here, over connections of their own, and in nobody's way.

use std::io::{Read, Write};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wire::Cancel;

use super::line::Stream;
use super::probe;
use crate::job::Peer;

/// Cancellations that wait for their turn; more are dropped.
const WAITING_MAX: usize = 64;
/// For each step of a cancellation: connecting, a log-in, the peer's answer.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Lets one cancellation through at a time, over all threads of a load: MariaDB's `KILL` of statements in `SLEEP()` holds one lock
/// and waits for another, so that two of them at once wait for each other, for up to two seconds each. Loads have turns of their
/// own: a server that does not answer must not keep the cancellations of another waiting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn(Arc<Mutex<()>>);

/// What is to be ended, and where.
type Order = (Peer, Cancel);
/// What came of it, in words if nothing did.
type Report = Result<(), String>;

/// Sends cancellations on a thread of its own, which begins with the first of them.
pub(crate) struct Canceller {
    turn: Turn,
    way: Option<(SyncSender<Order>, Receiver<Report>)>,
    /// Cancellations that nothing came of yet.
    under_way: u32,
}

impl Canceller {
    /// Takes turns with the other threads of the load.
    pub(crate) fn new(turn: Turn) -> Self {
        Self { turn, way: None, under_way: 0 }
    }

    /// Ends this soon. In words, why it cannot be.
    pub(crate) fn send(&mut self, peer: Peer, cancel: Cancel) -> Report {
        let (orders, _) = self.way.get_or_insert_with(|| {
            let (orders, to_do) = mpsc::sync_channel(WAITING_MAX);
            let (done, reports) = mpsc::channel();
            // Without a thread nobody takes the orders, which is said of each.
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

    /// The next report, if one comes within a time; `None` also when none is awaited.
    pub(crate) fn report(&mut self, within: Duration) -> Option<Report> {
        let (_, reports) = self.way.as_ref().filter(|_| self.under_way > 0)?;
        let report = reports.recv_timeout(within).ok()?;
        self.under_way -= 1;
        Some(report)
    }

    /// How many cancellations nothing came of yet.
    pub(crate) fn under_way(&self) -> u32 {
        self.under_way
    }
}

fn work(orders: &Receiver<Order>, done: &Sender<Report>, turn: &Turn) {
    for (peer, cancel) in orders {
        let turn = turn.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = match cancel {
            Cancel::Bytes(bytes) => send(&peer, bytes),
            Cancel::Request(mut conversation) => match probe::put(&peer, &mut *conversation, TIMEOUT) {
                Ok((reply, _)) => reply.refusal.map_or(Ok(()), |refusal| Err(conversation.explain(refusal))),
                Err(error) => Err(error.to_string()),
            },
        };
        drop(turn);
        // Whoever does not wait for it any more wants it done all the same.
        let _ = done.send(report);
    }
}

/// Sends bytes in the clear, and waits until the peer closes: then it is done with them.
fn send(peer: &Peer, bytes: [u8; 16]) -> Report {
    let endpoint = &peer.endpoints[0];
    let sent = Stream::open(endpoint, TIMEOUT).and_then(|mut stream| {
        stream.write_all(&bytes)?;
        stream.read(&mut [0])
    });
    sent.map(drop).map_err(|error| format!("{endpoint}: {error}"))
}
