//! The kernel's list of listening sockets, asked for over netlink (sock_diag(7)).
//!
//! `/proc/net/tcp` would have the queues too, but not their limits, and reading it walks every connection of the machine.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, sendto, socket_with,
};

/// A TCP socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    pub(crate) waiting: u32,
    pub(crate) limit: u32,
}

/// A Unix socket that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnixListening {
    /// As it was bound; empty if it has no name.
    pub(crate) path: PathBuf,
    /// The lower half of its inode's number, and the device's major and minor number.
    pub(crate) file: Option<(u32, (u32, u32))>,
    pub(crate) waiting: u32,
    pub(crate) limit: u32,
}

const HEADER: usize = 16;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const BY_FAMILY: u16 = 20;
/// A request, and all answers to it.
const REQUEST_ALL: u16 = 0x301;
const STATE_LISTEN: u32 = 1 << 10;
const INET: u8 = 2;
const INET6: u8 = 10;
const UNIX: u8 = 1;
const TCP: u8 = 6;
const UNIX_SHOW_NAME_FILE_QUEUE: u32 = 0x13;
/// Datagrams of one answer; each has room for some hundred sockets.
const DATAGRAMS_MAX: usize = 256;
const DATAGRAM_BYTES: usize = 32 << 10;
/// The kernel answers at once; this is for the day when it does not.
const ANSWER_WITHIN: Duration = Duration::from_millis(200);

/// A line to the kernel.
pub(crate) struct SockDiag {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl SockDiag {
    pub(crate) fn open() -> io::Result<Self> {
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        let socket = socket_with(family, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_WITHIN))?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; DATAGRAM_BYTES] })
    }

    /// All of IPv4, then all of IPv6.
    pub(crate) fn tcp(&mut self) -> io::Result<Vec<Listening>> {
        let mut found = Vec::new();
        for family in [INET, INET6] {
            let mut body = vec![family, TCP, 0, 0];
            body.extend(STATE_LISTEN.to_ne_bytes());
            body.resize(56, 0);
            self.ask(&body, |answer| found.extend(listening(answer)))?;
        }
        Ok(found)
    }

    pub(crate) fn unix(&mut self) -> io::Result<Vec<UnixListening>> {
        let mut found = Vec::new();
        let mut body = vec![UNIX, 0, 0, 0];
        body.extend(STATE_LISTEN.to_ne_bytes());
        body.extend(0_u32.to_ne_bytes());
        body.extend(UNIX_SHOW_NAME_FILE_QUEUE.to_ne_bytes());
        body.resize(24, 0);
        self.ask(&body, |answer| found.extend(unix_listening(answer)))?;
        Ok(found)
    }

    fn ask(&mut self, body: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(self.sequence, body);
        let kernel = netlink::SocketAddrNetlink::new(0, 0);
        sendto(&self.socket, &request, SendFlags::empty(), &kernel)?;
        for _ in 0..DATAGRAMS_MAX {
            let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let datagram = self.buffer.get(..length).unwrap_or_default();
            match read_datagram(datagram, self.sequence, &mut each) {
                Heard::More => {}
                Heard::All => return Ok(()),
                Heard::Refused(errno) => return Err(io::Error::from_raw_os_error(errno)),
            }
        }
        Err(io::Error::other("the list has no end"))
    }
}

fn request(sequence: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(length.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_ALL.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    More,
    All,
    Refused(i32),
}

/// Messages one after the other, each padded to four bytes. Those with another number answer an earlier question.
fn read_datagram(mut rest: &[u8], sequence: u32, each: &mut impl FnMut(&[u8])) -> Heard {
    while let (Some(length), Some(kind), Some(number)) = (u32_at(rest, 0), u16_at(rest, 4), u32_at(rest, 8)) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(message) = rest.get(HEADER..length) else { break };
        if number == sequence {
            match kind {
                DONE => return Heard::All,
                ERROR => {
                    let errno = u32_at(message, 0).unwrap_or(0).cast_signed();
                    return if errno == 0 { Heard::All } else { Heard::Refused(errno.saturating_neg()) };
                }
                BY_FAMILY => each(message),
                _ => {}
            }
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Heard::More
}

/// Of an `inet_diag_msg`.
fn listening(message: &[u8]) -> Option<Listening> {
    let port = u16::from_be_bytes(message.get(4..6)?.try_into().ok()?);
    Some(Listening { port, waiting: u32_at(message, 56)?, limit: u32_at(message, 60)? })
}

/// Of a `unix_diag_msg` and its attributes.
fn unix_listening(message: &[u8]) -> Option<UnixListening> {
    let (mut path, mut file, mut queue) = (PathBuf::new(), None, None);
    let mut rest = message.get(16..)?;
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let length = usize::from(length);
        let Some(value) = rest.get(4..length) else { break };
        match kind {
            0 => path = OsStr::from_bytes(value.split(|byte| *byte == 0).next().unwrap_or_default()).into(),
            1 => file = u32_at(value, 0).zip(u32_at(value, 4).map(device)),
            4 => queue = u32_at(value, 0).zip(u32_at(value, 4)),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    let (waiting, limit) = queue?;
    Some(UnixListening { path, file, waiting, limit })
}

/// Major and minor number, in the kernel's own packing.
fn device(packed: u32) -> (u32, u32) {
    (packed >> 20, packed & 0xf_ffff)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = request(sequence, body);
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn inet(port: u16, waiting: u32, limit: u32) -> Vec<u8> {
        let mut body = vec![0; 72];
        body[4..6].copy_from_slice(&port.to_be_bytes());
        body[56..60].copy_from_slice(&waiting.to_ne_bytes());
        body[60..64].copy_from_slice(&limit.to_ne_bytes());
        body
    }

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(4 + value.len()).unwrap().to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn unix_message() -> Vec<u8> {
        let mut body = vec![0; 16];
        body.extend(attribute(9, b"new"));
        body.extend(attribute(0, b"/run/a.sock\0"));
        body.extend(attribute(1, &[5_u32.to_ne_bytes(), (8 << 20 | 1_u32).to_ne_bytes()].concat()));
        body.extend(attribute(4, &[3_u32.to_ne_bytes(), 64_u32.to_ne_bytes()].concat()));
        body
    }

    #[test]
    fn answers_to_this_question_are_read_up_to_the_end() {
        let mut bytes = message(BY_FAMILY, 6, &inet(1, 1, 1));
        bytes.extend(message(BY_FAMILY, 7, &inet(8080, 2, 128)));
        let mut found = Vec::new();
        let mut each = |body: &[u8]| found.extend(listening(body));
        assert_eq!(read_datagram(&bytes, 7, &mut each), Heard::More);
        bytes.extend(message(DONE, 7, &[0; 4]));
        assert_eq!(read_datagram(&bytes, 7, &mut |_| {}), Heard::All);
        assert_eq!(found, [Listening { port: 8080, waiting: 2, limit: 128 }]);
        let refused = message(ERROR, 7, &(-2_i32).to_ne_bytes());
        assert_eq!(read_datagram(&refused, 7, &mut |_| {}), Heard::Refused(2));
    }

    #[test]
    fn a_unix_socket_has_a_path_a_file_and_a_queue() {
        let expected =
            UnixListening { path: "/run/a.sock".into(), file: Some((5, (8, 1))), waiting: 3, limit: 64 };
        assert_eq!(unix_listening(&unix_message()), Some(expected));
    }

    #[test]
    fn no_cut_and_no_wrong_length_breaks_it() {
        let mut whole = message(BY_FAMILY, 7, &inet(1, 2, 3));
        whole.extend(message(BY_FAMILY, 7, &unix_message()));
        for at in 0..whole.len() {
            let mut each = |body: &[u8]| {
                listening(body);
                unix_listening(body);
            };
            assert_eq!(read_datagram(&whole[..at], 7, &mut each), Heard::More);
            for value in [0, 1, 255] {
                let mut broken = whole.clone();
                broken[at] = value;
                read_datagram(&broken, 7, &mut each);
            }
        }
    }

    #[test]
    fn the_kernel_knows_a_socket_that_listens() {
        let Ok(mut kernel) = SockDiag::open() else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let Ok(sockets) = kernel.tcp() else { return };
        assert_eq!(sockets.iter().filter(|socket| socket.port == port).count(), 1);
    }
}
