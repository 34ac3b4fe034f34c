//! Link to a peer: its socket, TLS session, protocol channel, and the exchanges that it carries.

use std::num::NonZeroU16;

use load::SECOND_NS;
use rustix::io::Errno;
use wire::{Channel, Reply};

use crate::net::socket::Socket;
use crate::net::tls::Session;

/// Value of [`Link::idle_end_ms`] if the peer does not say how long it keeps idle connections.
pub(crate) const NO_IDLE_END: u32 = u32::MAX;
const MILLISECOND_NS: u64 = 1_000_000;

/// Margin before the time at which a peer may close an idle link; the link is not used after it. Half of the idle time if that is
/// shorter. The HTTP client of Node.js uses the same margin.
const IDLE_MARGIN_NS: u64 = SECOND_NS;

/// Connection slot that lasts for the whole load, while its sockets come and go.
pub(crate) struct Link {
    pub(crate) channel: Box<dyn Channel>,
    pub(crate) state: State,
    pub(crate) carried: Carried,
    /// Number of the peer.
    pub(crate) peer: u16,
    /// Index of the address of the present socket, or of the last one.
    pub(crate) address: u16,
    /// Step of the exchange that the link carries, or carried last.
    pub(crate) step: u16,
    /// Number among the links of this worker to this peer.
    pub(crate) number: u32,
    /// Counts the sockets of the link, so that events of an earlier socket are ignored.
    pub(crate) generation: u32,
    /// Number of replies on the present socket.
    pub(crate) served: u32,
    /// Number of consecutive failures of sockets of this link without a reply.
    pub(crate) failures: u8,
    /// Max number of concurrent exchanges.
    pub(crate) room: u16,
    /// Properties that stay for the whole load.
    pub(crate) kind: LinkKind,
    /// Whether some of its exchanges are not begun in the channel yet, because the link is not up or the channel has no room.
    pub(crate) has_unbegun: bool,
    /// Reason why the present socket takes no further exchanges; [`Retired::No`] while it takes them.
    pub(crate) retired: Retired,
    pub(crate) sending: Sending,
    /// Whether an exchange was abandoned during a pause within its request.
    pub(crate) was_left_in_pause: bool,
    /// Error number of a failed send on the present socket. `None` if none failed with an error number.
    send_error: Option<NonZeroU16>,
    /// Time at which the present socket began to connect.
    pub(crate) dialed_ns: u64,
    /// Time, in milliseconds since the start of the load, from which the link is not reused because its peer may close it for being
    /// idle. [`NO_IDLE_END`] if unknown.
    pub(crate) idle_end_ms: u32,
    /// Time to establish the present socket, TLS included; reported with its first exchange.
    pub(crate) connect_ns: u64,
}

/// Computes [`Link::idle_end_ms`] for a link that is idle from `at_ns` on and whose peer closes it after `idle_max_s` seconds.
#[cold]
fn idle_end_ms(at_ns: u64, idle_max_s: u16) -> u32 {
    let idle_max_ns = u64::from(idle_max_s) * SECOND_NS;
    let used_ns = idle_max_ns - IDLE_MARGIN_NS.min(idle_max_ns / 2);
    let end_ms = at_ns.saturating_add(used_ns) / MILLISECOND_NS;
    end_ms.min(u64::from(NO_IDLE_END - 1)) as u32
}

/// Properties of a link for the whole load, one bit each to keep links small.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkKind(u8);

impl LinkKind {
    pub(crate) const MULTIPLEXED: Self = Self(1);
    pub(crate) const TAKES_TURNS: Self = Self(2);
    pub(crate) const KEEPS_ALIVE: Self = Self(4);

    /// Adds a property if `has_it`.
    #[must_use]
    pub(crate) fn with(self, property: Self, has_it: bool) -> Self {
        if has_it { Self(self.0 | property.0) } else { self }
    }

    #[inline]
    fn has(self, property: Self) -> bool {
        self.0 & property.0 != 0
    }
}

/// State of a link.
///
/// ```text
///   Down ──dial──► Connecting ──► [Shaking (TLS)] ──► Greeting ──► Up ──► Down
///                                        ▲               │
///                                        └─ [TLS wanted] ┘
/// ```
pub(crate) enum State {
    Down,
    Connecting {
        socket: Socket,
    },
    Shaking {
        socket: Socket,
        session: Box<Session>,
    },
    /// The channel exchanges its greeting (such as a log-in) with the peer.
    Greeting {
        socket: Socket,
        session: Option<Box<Session>>,
    },
    Up {
        socket: Socket,
        session: Option<Box<Session>>,
    },
    /// The system is in this process, and open.
    InProcess,
}

/// Reason why a socket takes no further exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Retired {
    /// Socket still takes exchanges.
    No,
    /// Socket reached its max lifetime.
    Expired,
    /// The peer has closed its side.
    HungUp,
}

/// Progress of the pending output of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// The kernel accepted all pending bytes.
    Done,
    /// The socket's buffer is full; epoll reports when it has room.
    Blocked,
    /// Interrupted to give other links a turn; the kernel takes more.
    Interrupted,
    /// The connection failed; the kernel takes no more.
    Failed,
}

impl Link {
    pub(crate) fn new(channel: Box<dyn Channel>, peer: u16, number: u32, room: u32, kind: LinkKind) -> Self {
        Self {
            channel,
            state: State::Down,
            carried: Carried::default(),
            peer,
            address: 0,
            step: 0,
            number,
            generation: 0,
            served: 0,
            failures: 0,
            room: u16::try_from(room).unwrap_or(u16::MAX),
            kind,
            has_unbegun: false,
            retired: Retired::No,
            sending: Sending::Done,
            was_left_in_pause: false,
            send_error: None,
            dialed_ns: 0,
            idle_end_ms: NO_IDLE_END,
            connect_ns: 0,
        }
    }

    /// Returns whether the channel carries concurrent exchanges and may have bytes to send at any time.
    #[inline]
    pub(crate) fn is_multiplexed(&self) -> bool {
        self.kind.has(LinkKind::MULTIPLEXED)
    }

    /// Returns whether users share this link, so that each exchange takes the least busy one.
    #[inline]
    pub(crate) fn takes_turns(&self) -> bool {
        self.kind.has(LinkKind::TAKES_TURNS)
    }

    /// Returns whether a socket carries more than one exchange.
    #[inline]
    pub(crate) fn keeps_alive(&self) -> bool {
        self.kind.has(LinkKind::KEEPS_ALIVE)
    }

    /// Notes the error of a failed send on the present socket. `None` if the peer closed it.
    pub(crate) fn note_send_error(&mut self, errno: Option<Errno>) {
        let number = errno.map(|errno| errno.raw_os_error() as u16);
        self.send_error = number.and_then(NonZeroU16::new);
    }

    /// Returns whether a send on the present socket failed.
    pub(crate) fn has_send_error(&self) -> bool {
        self.send_error.is_some()
    }

    /// Takes the error of the failed send on the present socket.
    pub(crate) fn take_send_error(&mut self) -> Option<Errno> {
        self.send_error.take().map(|number| Errno::from_raw_os_error(number.get().into()))
    }

    /// Returns whether the link can carry exchanges now.
    #[inline]
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.state, State::Up { .. } | State::InProcess)
    }

    /// Returns whether the link is idle and its peer may close it at any time.
    #[inline]
    pub(crate) fn is_idle_too_long(&self, now_ns: u64) -> bool {
        let has_end = self.idle_end_ms != NO_IDLE_END;
        has_end
            && now_ns / MILLISECOND_NS >= u64::from(self.idle_end_ms)
            && self.is_up()
            && self.carried.is_empty()
    }

    /// Notes how many seconds the peer keeps the link idle from `at_ns` on; 0 if the peer does not say.
    #[inline]
    pub(crate) fn note_idle_max(&mut self, at_ns: u64, idle_max_s: u16) {
        self.idle_end_ms = if idle_max_s > 0 { idle_end_ms(at_ns, idle_max_s) } else { NO_IDLE_END };
    }

    /// Returns whether the link is being opened.
    pub(crate) fn is_opening(&self) -> bool {
        matches!(self.state, State::Connecting { .. } | State::Shaking { .. } | State::Greeting { .. })
    }

    /// Returns whether the present socket takes no further exchanges and is closed after its current ones.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_multiplexed()
            && self.is_up()
            && (self.retired == Retired::Expired || self.channel.must_drain())
    }

    /// Returns whether the present socket carries another exchange after `reply`.
    #[inline]
    pub(crate) fn is_reusable_after(&self, reply: &Reply) -> bool {
        reply.reusable && self.keeps_alive() && self.retired == Retired::No
    }

    /// Returns whether another exchange can be given to the link.
    pub(crate) fn has_room(&self) -> bool {
        let carried = self.carried.len() as u32;
        carried < u32::from(self.room)
            && (!self.is_up() || self.channel.room() > 0)
            && self.retired == Retired::No
    }

    /// Returns whether the end of the byte stream cannot be trusted: the peer has not closed TLS with a `close_notify` alert.
    pub(crate) fn may_be_truncated(&self) -> bool {
        matches!(&self.state, State::Up { session: Some(session), .. } if !session.peer_closed)
    }
}

/// Users whose exchanges a link carries.
#[derive(Debug)]
pub(crate) struct Carried {
    /// First user, stored inline because most links never carry more. [`NO_USER`] if there is none.
    first: u32,
    /// Other users; allocated when a second one is added.
    more: Option<Box<OtherUsers>>,
}

#[derive(Debug, Default)]
struct OtherUsers(Vec<u32>);

const NO_USER: u32 = u32::MAX;

impl Default for Carried {
    fn default() -> Self {
        Self { first: NO_USER, more: None }
    }
}

impl Carried {
    #[inline]
    pub(crate) fn add(&mut self, user: u32) {
        if self.first == NO_USER {
            self.first = user;
        } else {
            self.more.get_or_insert_default().0.push(user);
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, user: u32) {
        if self.first == user {
            self.first = self.more.as_mut().and_then(|more| more.0.pop()).unwrap_or(NO_USER);
        } else if let Some(OtherUsers(more)) = self.more.as_deref_mut()
            && let Some(place) = more.iter().position(|other| *other == user)
        {
            more.swap_remove(place);
        }
    }

    /// Returns one of the users. `None` if there are none.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NO_USER).then_some(self.first)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NO_USER
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first != NO_USER) + self.more.as_ref().map_or(0, |more| more.0.len())
    }

    /// Returns all users, in no particular order.
    pub(crate) fn users(&self) -> impl Iterator<Item = u32> {
        let more = self.more.iter().flat_map(|more| &more.0);
        self.first().into_iter().chain(more.copied())
    }
}

#[cfg(test)]
mod tests {
    use wire::Serial;
    use wire::http1::HttpConversation;

    use super::*;
    use crate::user::User;

    /// Memory per connection: 10,000 connections are a common load, so each byte here costs 10 KB.
    #[test]
    fn connection_and_user_take_456_bytes() {
        assert!(size_of::<User>() <= 208, "{}", size_of::<User>());
        assert!(size_of::<Link>() <= 96, "{}", size_of::<Link>());
        let channel = size_of::<Serial<HttpConversation>>();
        assert!(channel <= 152, "{channel}");
    }

    #[test]
    fn carried_users_are_removed_in_any_order() {
        let mut carried = Carried::default();
        [3, 1, 4].into_iter().for_each(|user| carried.add(user));
        carried.remove(3);
        carried.remove(9);
        let mut left: Vec<u32> = carried.users().collect();
        left.sort_unstable();
        assert_eq!((left, carried.len()), (vec![1, 4], 2));
        carried.remove(1);
        carried.remove(4);
        assert!(carried.is_empty() && carried.first().is_none());
    }
}
