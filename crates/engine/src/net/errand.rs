//! Sequence of exchanges by one client, outside of a load.

use std::fmt;
use std::io::Write;
use std::time::Duration;

use wire::{Channel, Channels, Values};

use super::exchange::{End, TICKET, converse};
use super::line::BlockingConnection;
use crate::job::Peer;

/// Max redirections of one exchange.
const REDIRECTS_MAX: u8 = 16;

/// Client that runs one exchange at a time. It opens a connection to each peer with the first exchange there.
pub struct ExchangeClient {
    channels: Box<dyn Channels>,
    /// Peers of the channels, by number.
    peers: Vec<Peer>,
    /// Links to the peers. `None` before the first exchange with a peer.
    links: Vec<Option<Link>>,
    values: Values,
    timeout: Duration,
}

/// Link of the client to a peer.
struct Link {
    channel: Box<dyn Channel>,
    /// Connection. `None` if it is closed.
    line: Option<BlockingConnection>,
}

impl fmt::Debug for ExchangeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExchangeClient").field("peers", &self.peers).finish_non_exhaustive()
    }
}

impl ExchangeClient {
    /// Creates a client without connections. The time-out applies to connecting, and to each reply.
    pub fn new(peers: Vec<Peer>, channels: Box<dyn Channels>, timeout: Duration) -> Self {
        let links = peers.iter().map(|_| None).collect();
        Self { channels, peers, links, values: Values::default(), timeout }
    }

    /// Sets a variable for the exchanges that follow.
    pub fn set(&mut self, variable: u16, value: &[u8]) {
        self.values.set(variable, value);
    }

    /// Returns the value of a variable. `None` if it was never set or saved.
    pub fn value(&self, variable: u16) -> Option<&[u8]> {
        self.values.get(variable)
    }

    /// Runs the exchange of a step.
    ///
    /// # Errors
    ///
    /// Returns the error from the reply, or the reason why there was no reply.
    pub fn run(&mut self, step: u16) -> Result<(), String> {
        let first = self.channels.peers_of(step).start;
        let mut peer = self.channels.route(step, &self.values);
        let mut is_once = false;
        for _ in 0..=REDIRECTS_MAX {
            match self.exchange(peer, step, is_once)? {
                End::Replied(_) => return Ok(()),
                End::Redirected(redirect) => (peer, is_once) = (first + redirect.peer, redirect.is_once),
            }
        }
        Err(format!("the step was redirected more than {REDIRECTS_MAX} times"))
    }

    /// Closes all connections. The next exchange with a peer opens another.
    pub fn close(&mut self) {
        self.links.iter_mut().flatten().for_each(Link::close);
    }

    fn exchange(&mut self, number: u16, step: u16, is_once: bool) -> Result<End, String> {
        let Self { channels, peers, links, values, timeout } = self;
        let unknown = || format!("the step goes to peer {number}, and there are {}", peers.len());
        let peer = peers.get(usize::from(number)).ok_or_else(unknown)?;
        let slot = links.get_mut(usize::from(number)).ok_or_else(unknown)?;
        let link = slot.get_or_insert_with(|| Link { channel: channels.open(number, 0), line: None });
        let (line, channel) = link.open(peer, *timeout)?;
        if is_once {
            channel.announce_redirect();
        }
        let next = channel.begin(TICKET, channels.place(step).step, values);
        let end = converse(line, peer, channel, next, *timeout).map_err(|(class, reason)| {
            link.abort();
            format!("{reason} ({class})")
        })?;
        link.channel.saved(TICKET, values);
        if let End::Replied(reply) = &end {
            let explained = reply.rejection.map(|rejection| link.channel.explain(rejection));
            if !reply.reusable {
                link.close();
            }
            if let Some(explained) = explained {
                return Err(explained);
            }
        }
        Ok(end)
    }
}

impl Link {
    /// Opens the connection if it is closed, or was closed by the peer.
    fn open(
        &mut self,
        peer: &Peer,
        timeout: Duration,
    ) -> Result<(&mut BlockingConnection, &mut dyn Channel), String> {
        if self.line.as_ref().is_some_and(BlockingConnection::is_stale) {
            self.abort();
        }
        let channel = &mut *self.channel;
        let line = match self.line.take() {
            Some(line) => line,
            // The reason is shown within a sentence, so it must not contain line breaks.
            None => BlockingConnection::open_greeted(peer, channel, timeout)
                .map_err(|error| error.to_string().replace("\n  help: ", "; "))?,
        };
        Ok((self.line.insert(line), channel))
    }

    /// Closes the connection with the farewell of the protocol.
    fn close(&mut self) {
        if let Some(line) = self.line.as_mut().filter(|_| self.channel.is_idle()) {
            // The connection closes in any case.
            let _ = line.write_all(self.channel.farewell());
        }
        self.abort();
    }

    /// Closes the connection at once.
    fn abort(&mut self) {
        self.line = None;
        self.channel.forget();
    }
}
