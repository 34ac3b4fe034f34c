//! Listening sockets, and the thread that accepts connections and assigns them to the workers in turn.

use crate::mailbox::{Mailbox, ReactorMessage};
use crate::shared::Shared;
use crate::worker::WorkerHandle;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of accepted connections before the schedule and the stop flag are checked again.
const ACCEPTS_PER_TURN: usize = 64;
/// Pause before the next accept when the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Listening socket.
pub(crate) struct Listener {
    socket: OwnedFd,
    /// File of a Unix socket, removed with the listener. `None` for TCP.
    file: Option<SocketFile>,
}

struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may already be gone.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Listener {
    /// Listens on a TCP address. Also returns the actual address.
    pub(crate) fn tcp(address: SocketAddr, backlog: u32) -> io::Result<(Self, SocketAddr)> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket(family)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, backlog as i32)?;
        let listener = TcpListener::from(socket);
        let address = listener.local_addr()?;
        Ok((Self { socket: listener.into(), file: None }, address))
    }

    /// Listens on a Unix socket, whose file must not exist.
    pub(crate) fn unix(path: &Path, backlog: u32) -> io::Result<Self> {
        let socket = socket(AddressFamily::UNIX)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        let file = Some(SocketFile(path.to_owned()));
        rustix::net::listen(&socket, backlog as i32)?;
        Ok(Self { socket, file })
    }
}

fn socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}

/// Accepting thread of all listeners.
pub(crate) struct Acceptor {
    shared: Arc<Shared>,
    listeners: Vec<Listener>,
    worker_handles: Vec<WorkerHandle>,
    epoll: OwnedFd,
    next: u64,
}

impl Acceptor {
    /// Creates the acceptor. `waker` wakes it to stop.
    pub(crate) fn new(
        shared: Arc<Shared>,
        listeners: Vec<Listener>,
        worker_handles: Vec<WorkerHandle>,
        waker: &Mailbox,
    ) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(0);
        for listener in &listeners {
            epoll::add(&epoll, &listener.socket, data, epoll::EventFlags::IN)?;
        }
        epoll::add(&epoll, waker.waker(), data, epoll::EventFlags::IN)?;
        Ok(Self { shared, listeners, worker_handles, epoll, next: 0 })
    }

    /// Accepts until the target stops.
    pub(crate) fn run(mut self) {
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut events: Vec<epoll::Event> = Vec::with_capacity(4);
        while !self.shared.stop.is_set() {
            let until_stall = self.shared.next_stall(Instant::now());
            let timeout = until_stall
                .and_then(|at| Timespec::try_from(at.saturating_duration_since(Instant::now())).ok());
            match epoll::wait(&self.epoll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            events.clear();
            self.shared.sleep_through_stall(None);
            if let Some(left) = self.shared.troubles.stalled_for(Instant::now()) {
                self.shared.stop.sleep_until(Instant::now() + left);
            }
            for listener in 0..self.listeners.len() {
                self.accept_batch(listener);
            }
        }
    }

    fn accept_batch(&mut self, listener: usize) {
        let delay = self.shared.settings.accept_delay;
        for _ in 0..if delay.is_zero() { ACCEPTS_PER_TURN } else { 1 } {
            let Listener { socket, file } = &self.listeners[listener];
            match rustix::net::accept_with(socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(connection) => {
                    let tcp = file.is_none();
                    self.hand_out(ReactorMessage::Accepted { socket: connection, number: self.next, tcp });
                    if !delay.is_zero() {
                        self.shared.stop.sleep_until(Instant::now() + delay);
                    }
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.shared.stop.sleep_until(Instant::now() + ACCEPT_PAUSE),
            }
        }
    }

    /// Assigns a connection to the next worker in turn, because the kernel's own distribution is random and gives some workers
    /// twice their share.
    fn hand_out(&mut self, message: ReactorMessage) {
        let worker_handle = &self.worker_handles[(self.next % self.worker_handles.len() as u64) as usize];
        self.next = self.next.wrapping_add(1);
        worker_handle.tally.accepted.add_one();
        worker_handle.mailbox.post(message);
    }
}
