//! Tells a peer that a request was given up, over a connection of its own: at best effort, and in nobody's way.

use std::io::{Read, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use super::line::Stream;
use crate::job::Endpoint;

/// Cancellations that wait for their turn; more are dropped.
const WAITING_MAX: usize = 64;
/// For connecting, and for the peer to close.
const TIMEOUT: Duration = Duration::from_secs(1);

/// What is to be sent, and where.
type Order = (Endpoint, [u8; 16]);

/// Sends cancellations on a thread of its own, which begins with the first of them. They go out in the clear.
#[derive(Debug, Default)]
pub(crate) struct Canceller {
    orders: Option<SyncSender<Order>>,
}

impl Canceller {
    /// Sends these bytes soon, if there is no jam.
    pub(crate) fn send(&mut self, endpoint: &Endpoint, bytes: [u8; 16]) {
        let orders = self.orders.get_or_insert_with(|| {
            let (orders, receiver) = mpsc::sync_channel(WAITING_MAX);
            // Without a thread nothing is cancelled, and nothing else is different.
            let _ = thread::Builder::new().name("cancel".to_owned()).spawn(move || work(&receiver));
            orders
        });
        let _ = orders.try_send((endpoint.clone(), bytes));
    }
}

fn work(orders: &Receiver<Order>) {
    for (endpoint, bytes) in orders {
        if let Ok(mut stream) = Stream::open(&endpoint, TIMEOUT)
            && stream.write_all(&bytes).is_ok()
        {
            // The peer closes when it is done with it.
            let _ = stream.read(&mut [0]);
        }
    }
}
