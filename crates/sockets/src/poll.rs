//! Waits for sockets and timers with edge-triggered epoll, at nanosecond resolution (`epoll_pwait2`).

use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

/// Max events per wait. The kernel keeps further events for the next wait, so that they do not delay due requests.
const EVENTS_MAX: usize = 256;

/// Event of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// Number of the link, as given to [`Poll::watch`].
    pub link: u32,
    /// Generation of the socket, which distinguishes it from earlier sockets of the link.
    pub generation: u32,
    /// Whether reading may succeed.
    pub can_read: bool,
    /// Whether writing may succeed.
    pub can_write: bool,
    /// Whether the peer closed or reset the connection: reads must continue to the end.
    pub hung_up: bool,
}

/// Epoll instance of one thread.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poll {
    /// Creates a poller for the calling thread, and sets the thread's timer slack to 1 ns.
    ///
    /// # Errors
    ///
    /// Fails if no file descriptor is left, or if the timer slack cannot be set.
    pub fn new() -> Result<Self, Errno> {
        // By default the kernel may delay timers by 50 µs, to coalesce wake-ups.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(EVENTS_MAX) })
    }

    /// Registers a socket for all events. With edge triggering, it need not be registered again.
    ///
    /// # Errors
    ///
    /// Fails if the kernel has no memory for it.
    pub fn watch(&self, socket: impl AsFd, link: u32, generation: u32) -> Result<(), Errno> {
        let data = EventData::new_u64(u64::from(generation) << 32 | u64::from(link));
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, socket, data, flags)
    }

    /// Waits until a socket is ready or `wait_ns` have passed. Returns the number of events for [`Poll::take`]; 0 also after a
    /// signal.
    ///
    /// # Errors
    ///
    /// Fails if the kernel rejects the wait.
    pub fn wait(&mut self, wait_ns: u64) -> Result<usize, Errno> {
        let timeout =
            Timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as i64 };
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(count) => Ok(count),
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(errno),
        }
    }

    /// Returns event `index` of the last wait.
    #[inline]
    pub fn take(&self, index: usize) -> Ready {
        let Event { flags, data } = self.events[index];
        let data = data.u64();
        Ready {
            link: data as u32,
            generation: (data >> 32) as u32,
            can_read: flags
                .intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR),
            can_write: flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR),
            hung_up: flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Regression test: `epoll_wait` rounds timeouts up to milliseconds.
    #[test]
    fn wait_of_200_us_is_not_rounded_to_1_ms() {
        let mut poll = Poll::new().unwrap();
        let shortest = (0..50).map(|_| {
            let before = Instant::now();
            poll.wait(200_000).unwrap();
            before.elapsed()
        });
        let shortest = shortest.min().unwrap();
        assert!(shortest >= Duration::from_micros(200), "{shortest:?}");
        assert!(shortest < Duration::from_micros(600), "{shortest:?}");
    }
}
