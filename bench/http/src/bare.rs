//! Bare HTTP load loop, as a lower bound on the cost of a load tester: one thread, edge-triggered epoll, and httparse.
//!
//! Has no timers and no histograms, and exits on the first error. CPU time that a load tester uses in addition is the cost of its
//! features.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail, ensure};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with, sockopt,
};

use crate::flags::BareFlags;
use crate::limits;

const EVENTS_MAX: usize = 1024;
const BUFFER_BYTES: usize = 64 * 1024;
const HEADERS_MAX: usize = 32;
/// Time without events after which the server counts as stopped.
const IDLE_TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
const CONNECTED_WITHIN: Duration = Duration::from_secs(20);

/// Sends requests and reads responses until the time is over, then prints one JSON object.
///
/// # Errors
///
/// On the first of these: an address outside loopback, a refused connection, or a truncated or unexpected response.
pub(crate) fn run(flags: &BareFlags) -> anyhow::Result<()> {
    ensure!(
        flags.address.ip().is_loopback(),
        "{} is not a loopback address; load one of this machine",
        flags.address
    );
    limits::raise_open_files();
    let mut floor = BareLoop::connect(flags.address, flags.connections)?;
    // The measured time excludes connecting, but the CPU time includes it, as in Tenbin.
    let begin = Instant::now();
    let end = begin + Duration::from_secs(flags.seconds.into());
    floor.send_first()?;
    while Instant::now() < end {
        floor.turn()?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let (requests, requests_per_s) = (floor.replies, floor.replies as f64 / seconds);
    let json =
        serde_json::json!({ "requests": requests, "seconds": seconds, "requests_per_s": requests_per_s });
    crate::say(&json.to_string())
}

struct BareLoop {
    epoll: OwnedFd,
    sockets: Vec<OwnedFd>,
    request: Vec<u8>,
    events: Vec<Event>,
    buffer: Vec<u8>,
    replies: u64,
}

impl BareLoop {
    fn connect(address: SocketAddr, connections: u32) -> anyhow::Result<Self> {
        let deadline = Instant::now() + CONNECTED_WITHIN;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let sockets = (0..connections).map(|index| dial(address, &epoll, index.into()));
        let mut floor = Self {
            sockets: sockets.collect::<Result<_, _>>().context("cannot connect")?,
            epoll,
            request: format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes(),
            events: Vec::with_capacity(EVENTS_MAX),
            buffer: vec![0; BUFFER_BYTES],
            replies: 0,
        };
        // Edge-triggered epoll reports each socket once, since no request has been sent yet.
        let mut open = 0;
        while open < floor.sockets.len() {
            open += floor.wait()?;
            for event in &floor.events {
                floor.check_alive(event)?;
            }
            ensure!(Instant::now() < deadline, "connecting takes more than {} s", CONNECTED_WITHIN.as_secs());
        }
        Ok(floor)
    }

    fn send_first(&self) -> anyhow::Result<()> {
        self.sockets.iter().try_for_each(|socket| self.send(socket))
    }

    /// Waits for events once, and sends the next request on each connection that received a response.
    fn turn(&mut self) -> anyhow::Result<()> {
        for index in 0..self.wait()? {
            let event = self.events[index];
            self.check_alive(&event)?;
            let socket = &self.sockets[event.data.u64() as usize];
            if { event.flags }.contains(EventFlags::IN) {
                let (received, _) =
                    recv(socket, &mut self.buffer[..], RecvFlags::empty()).context("cannot read")?;
                check_reply(&self.buffer[..received])?;
                self.replies += 1;
                self.send(socket)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self) -> anyhow::Result<usize> {
        self.events.clear();
        let events = rustix::buffer::spare_capacity(&mut self.events);
        let count = epoll::wait(&self.epoll, events, Some(&IDLE_TIMEOUT)).context("cannot wait")?;
        ensure!(count > 0, "nothing was heard for {} s; is the server alive?", IDLE_TIMEOUT.tv_sec);
        Ok(count)
    }

    fn send(&self, socket: &OwnedFd) -> anyhow::Result<()> {
        let sent = send(socket, &self.request, SendFlags::NOSIGNAL).context("cannot send")?;
        ensure!(sent == self.request.len(), "a request was sent in part only");
        Ok(())
    }

    fn check_alive(&self, event: &Event) -> anyhow::Result<()> {
        let Event { flags, data } = *event;
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            let error = sockopt::socket_error(&self.sockets[data.u64() as usize])?;
            bail!(
                "a connection was lost: {}",
                error.err().map_or("closed".to_owned(), |errno| errno.to_string())
            );
        }
        Ok(())
    }
}

fn dial(address: SocketAddr, epoll: &OwnedFd, index: u64) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(errno) => return Err(errno),
    }
    // Registers the socket after `connect`: epoll reports a hang-up for a socket that is not connecting yet.
    epoll::add(epoll, &socket, EventData::new_u64(index), EventFlags::IN | EventFlags::OUT | EventFlags::ET)?;
    Ok(socket)
}

/// Checks that `bytes` is one complete response with status 200 and nothing after it.
fn check_reply(bytes: &[u8]) -> anyhow::Result<()> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut reply = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head_bytes) =
        reply.parse(bytes).map_err(|error| anyhow!("this is no HTTP: {error}"))?
    else {
        bail!("a reply came in pieces after {} bytes", bytes.len());
    };
    ensure!(reply.code == Some(200), "status {:?} instead of 200", reply.code);
    let length = reply.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    ensure!(
        length == Some(bytes.len() - head_bytes),
        "a body of {length:?} bytes did not come with its head"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_reply_counts() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        assert!(check_reply(whole).is_ok());
        for end in 0..whole.len() {
            assert!(check_reply(&whole[..end]).is_err(), "{end} bytes");
        }
        assert!(check_reply(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok?").is_err());
        assert!(check_reply(b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno").is_err());
        assert!(check_reply(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
