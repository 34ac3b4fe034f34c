//! Waiting for sockets and for the next instant, edge-triggered and to the nanosecond.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

/// Events taken at once. More are left for the next turn, so that due requests are not kept waiting behind them.
const EVENTS_MAX: usize = 256;

/// A socket that something happened to.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The number it is watched by.
    pub link: u32,
    /// Tells a socket from an earlier one of the same link.
    pub generation: u32,
    /// There may be something to read.
    pub can_read: bool,
    /// There may be room to write.
    pub can_write: bool,
    /// The peer closed or reset: reading must go on to the end.
    pub hung_up: bool,
}

/// The sockets of one thread.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poll {
    /// A poller for the thread that makes it, whose timer slack it sets.
    ///
    /// # Errors
    ///
    /// The kernel has no descriptor left, or does not let the slack be set.
    pub fn new() -> Result<Self, Errno> {
        // By default the kernel may be 50 µs late on purpose, to wake up for several timers at once.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(EVENTS_MAX) })
    }

    /// Watches a socket for everything, once and for all: with edge triggering it need never be asked for again.
    ///
    /// # Errors
    ///
    /// The kernel has no memory for it.
    pub fn watch(&self, socket: impl AsFd, link: u32, generation: u32) -> Result<(), Errno> {
        let data = EventData::new_u64(u64::from(generation) << 32 | u64::from(link));
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, socket, data, flags)
    }

    /// Waits for sockets, or until `wait_ns` have passed. Returns how many events there are to [`Poll::take`].
    ///
    /// # Errors
    ///
    /// The kernel cannot wait.
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

    /// One event of the last wait.
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

    /// A wait rounded up to milliseconds would take at least 1 ms every single time.
    #[test]
    fn a_wait_of_200_microseconds_is_not_rounded_to_a_millisecond() {
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
