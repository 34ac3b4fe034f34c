//! One link to a peer: its socket, TLS, the channel of its protocol, and the exchanges that it carries.

use std::num::NonZeroU16;

use load::SECOND_NS;
use rustix::io::Errno;
use wire::{Channel, Reply};

use crate::net::socket::Socket;
use crate::net::tls::Session;

/// [`Link::idle_end_ms`] of a link whose peer does not say how long it keeps idle connections.
pub(crate) const NO_IDLE_END: u32 = u32::MAX;
const MILLISECOND_NS: u64 = 1_000_000;

/// A link is not used any more so long before its peer may close it for being idle, as by the HTTP client of Node; if the peer waits for
/// less than twice as long, half of that.
const IDLE_MARGIN_NS: u64 = SECOND_NS;

/// A link, kept for the whole load while sockets come and go in it.
pub(crate) struct Link {
    pub(crate) channel: Box<dyn Channel>,
    pub(crate) state: State,
    pub(crate) carried: Carried,
    /// The peer that it goes to.
    pub(crate) peer: u16,
    /// The number of the address that its present socket goes to, or its last one went to.
    pub(crate) address: u16,
    /// The step that it carries, or carried last.
    pub(crate) step: u16,
    /// Its number among the links of this worker to its peer.
    pub(crate) number: u32,
    /// Counts its sockets, so that an event of another one is not taken for this one's.
    pub(crate) generation: u32,
    /// Replies on the present socket.
    pub(crate) served: u32,
    /// Ends without a reply in a row.
    pub(crate) failures: u8,
    /// Maximum number of exchanges that it carries at the same time.
    pub(crate) room: u16,
    /// Properties that it has for the whole load.
    pub(crate) kind: LinkKind,
    /// Whether it carries exchanges that its channel has not begun, for want of room or because it is not up.
    pub(crate) has_unbegun: bool,
    /// Whether the present socket carries further exchanges.
    pub(crate) retired: Retired,
    pub(crate) sending: Sending,
    /// An exchange was left in its pause.
    pub(crate) was_left_in_pause: bool,
    /// Error number of the failed sending on the present socket.
    send_error: Option<NonZeroU16>,
    /// When the present socket began to connect.
    pub(crate) dialled_ns: u64,
    /// Instant from which its peer may close it for being idle, less a margin, in milliseconds since the load began, or
    /// [`NO_IDLE_END`].
    pub(crate) idle_end_ms: u32,
    /// How long the present socket took to be ready, until its first exchange has reported it.
    pub(crate) connect_ns: u64,
}

/// [`Link::idle_end_ms`] of a link that is idle from `at_ns` on, if its peer closes it after `idle_max_s`.
#[cold]
fn idle_end_ms(at_ns: u64, idle_max_s: u16) -> u32 {
    let idle_max_ns = u64::from(idle_max_s) * SECOND_NS;
    let used_ns = idle_max_ns - IDLE_MARGIN_NS.min(idle_max_ns / 2);
    let end_ms = at_ns.saturating_add(used_ns) / MILLISECOND_NS;
    end_ms.min(u64::from(NO_IDLE_END - 1)) as u32
}

/// Properties of a link for a whole load, one bit each: connections are many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkKind(u8);

impl LinkKind {
    pub(crate) const MULTIPLEXED: Self = Self(1);
    pub(crate) const TAKES_TURNS: Self = Self(2);
    pub(crate) const KEEPS_ALIVE: Self = Self(4);

    /// With a property, if the link has it.
    #[must_use]
    pub(crate) fn with(self, property: Self, has_it: bool) -> Self {
        if has_it { Self(self.0 | property.0) } else { self }
    }

    #[inline]
    fn has(self, property: Self) -> bool {
        self.0 & property.0 != 0
    }
}

/// How far a link is.
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
    /// The channel comes to terms with the peer.
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

/// Why a socket carries no further exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Retired {
    /// It does.
    No,
    /// It has come to the end of its lifetime.
    Expired,
    /// The peer has closed its side.
    HungUp,
}

/// How far the kernel has taken what was to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// All of it.
    Done,
    /// Not all; it tells when it has room.
    Blocked,
    /// Not all, because others had to have their turn; it takes more.
    Interrupted,
    /// Not all, and it takes no more.
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
            dialled_ns: 0,
            idle_end_ms: NO_IDLE_END,
            connect_ns: 0,
        }
    }

    /// Whether its channel carries exchanges side by side, and may have bytes to send at any time.
    #[inline]
    pub(crate) fn is_multiplexed(&self) -> bool {
        self.kind.has(LinkKind::MULTIPLEXED)
    }

    /// Whether it is one of several that users share, the least busy first.
    #[inline]
    pub(crate) fn takes_turns(&self) -> bool {
        self.kind.has(LinkKind::TAKES_TURNS)
    }

    /// Whether its sockets carry more than one exchange.
    #[inline]
    pub(crate) fn keeps_alive(&self) -> bool {
        self.kind.has(LinkKind::KEEPS_ALIVE)
    }

    /// Notes why sending on the present socket failed; `None` if its peer closed it.
    pub(crate) fn note_send_error(&mut self, errno: Option<Errno>) {
        let number = errno.map(|errno| errno.raw_os_error() as u16);
        self.send_error = number.and_then(NonZeroU16::new);
    }

    /// Whether sending on the present socket failed.
    pub(crate) fn has_send_error(&self) -> bool {
        self.send_error.is_some()
    }

    /// Takes the error of sending on the present socket.
    pub(crate) fn take_send_error(&mut self) -> Option<Errno> {
        self.send_error.take().map(|number| Errno::from_raw_os_error(number.get().into()))
    }

    /// Whether it can carry exchanges now.
    #[inline]
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.state, State::Up { .. } | State::InProcess)
    }

    /// Whether its peer may close it at any time now for having been idle.
    #[inline]
    pub(crate) fn is_idle_too_long(&self, now_ns: u64) -> bool {
        let has_end = self.idle_end_ms != NO_IDLE_END;
        has_end
            && now_ns / MILLISECOND_NS >= u64::from(self.idle_end_ms)
            && self.is_up()
            && self.carried.is_empty()
    }

    /// Notes for how long its peer keeps it while it is idle from `at_ns` on, in seconds; 0 if the peer says nothing.
    #[inline]
    pub(crate) fn note_idle_max(&mut self, at_ns: u64, idle_max_s: u16) {
        self.idle_end_ms = if idle_max_s > 0 { idle_end_ms(at_ns, idle_max_s) } else { NO_IDLE_END };
    }

    /// Whether it is on its way to be up.
    pub(crate) fn is_opening(&self) -> bool {
        matches!(self.state, State::Connecting { .. } | State::Shaking { .. } | State::Greeting { .. })
    }

    /// Whether the present socket takes no further exchanges, and is closed after those that it carries.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_multiplexed() && self.is_up() && (self.retired == Retired::Expired || self.channel.draining())
    }

    /// Whether the present socket carries another exchange after a reply.
    #[inline]
    pub(crate) fn goes_on_after(&self, reply: &Reply) -> bool {
        reply.reusable && self.keeps_alive() && self.retired == Retired::No
    }

    /// Whether another exchange may be given to it.
    pub(crate) fn has_room(&self) -> bool {
        let carried = self.carried.len() as u32;
        carried < u32::from(self.room)
            && (!self.is_up() || self.channel.room() > 0)
            && self.retired == Retired::No
    }

    /// Whether an end of the bytes would be anybody's doing: TLS announces its own end, and this one has not.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(&self.state, State::Up { session: Some(session), .. } if !session.peer_closed)
    }
}

/// The users whose exchanges a link carries.
#[derive(Debug)]
pub(crate) struct Carried {
    /// One of them: most links never have more.
    first: u32,
    /// The others, once there are any.
    more: Option<Box<Others>>,
}

#[derive(Debug, Default)]
struct Others(Vec<u32>);

const NOBODY: u32 = u32::MAX;

impl Default for Carried {
    fn default() -> Self {
        Self { first: NOBODY, more: None }
    }
}

impl Carried {
    #[inline]
    pub(crate) fn add(&mut self, user: u32) {
        if self.first == NOBODY {
            self.first = user;
        } else {
            self.more.get_or_insert_default().0.push(user);
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, user: u32) {
        if self.first == user {
            self.first = self.more.as_mut().and_then(|more| more.0.pop()).unwrap_or(NOBODY);
        } else if let Some(Others(more)) = self.more.as_deref_mut()
            && let Some(place) = more.iter().position(|other| *other == user)
        {
            more.swap_remove(place);
        }
    }

    /// One of them.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NOBODY).then_some(self.first)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NOBODY
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first != NOBODY) + self.more.as_ref().map_or(0, |more| more.0.len())
    }

    /// All of them.
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

    /// Ten thousand connections are an ordinary load: each byte here is 10 KiB of them.
    #[test]
    fn a_connection_and_its_user_take_456_bytes() {
        assert!(size_of::<User>() <= 208, "{}", size_of::<User>());
        assert!(size_of::<Link>() <= 96, "{}", size_of::<Link>());
        let channel = size_of::<Serial<HttpConversation>>();
        assert!(channel <= 152, "{channel}");
    }

    #[test]
    fn whoever_is_carried_is_taken_out_in_any_order() {
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
