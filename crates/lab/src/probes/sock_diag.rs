//! Lists listening sockets and connections through netlink (sock_diag(7)).
//!
//! `/proc/net/tcp` has the queue lengths but not their limits, and reading it walks every connection of the machine.

use std::ffi::OsStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, sendto, socket_with,
};

/// A listening TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listening {
    /// Lower 32 bits of its inode.
    pub(crate) inode: u32,
    pub(crate) port: u16,
    pub(crate) waiting: u32,
    pub(crate) limit: u32,
}

/// A listening Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnixListening {
    /// Path as bound. Empty if it has no name.
    pub(crate) path: PathBuf,
    /// Lower 32 bits of the inode, and the major and minor number of the device.
    pub(crate) file: Option<(u32, (u32, u32))>,
    pub(crate) waiting: u32,
    pub(crate) limit: u32,
}

/// End of a connection between Unix sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnixConnection {
    /// Lower 32 bits of its inode.
    pub(crate) inode: u32,
    /// Path of the listening socket at the end that accepted the connection; empty at the other end.
    pub(crate) path: PathBuf,
    /// Inode of the other end. `None` if it is gone.
    pub(crate) peer: Option<u32>,
}

/// A TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpConnection {
    /// Lower 32 bits of its inode.
    pub(crate) inode: u32,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Received bytes that were not read.
    pub(crate) receive_queue_bytes: u32,
    /// Written bytes that were not acknowledged.
    pub(crate) send_queue_bytes: u32,
    /// Counters since the connection began. All are 0 if the kernel does not report them.
    pub(crate) traffic: Traffic,
}

/// Counters of a TCP connection since it began, and the time since its last data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Retransmitted segments.
    pub(crate) retransmits: u32,
    /// Time since data was last sent and received, in milliseconds. The kernel counts it in ticks of 1 to 10 ms.
    pub(crate) since_sent_ms: u32,
    pub(crate) since_received_ms: u32,
    /// Segments with data.
    pub(crate) segments_sent: u32,
    pub(crate) segments_received: u32,
    /// Bytes that the peer acknowledged, and bytes that it sent.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Time with unsent data, in microseconds, and the parts of it in which the peer's window or the send buffer was full.
    pub(crate) busy_us: u64,
    pub(crate) peer_window_us: u64,
    pub(crate) send_buffer_us: u64,
}

impl Traffic {
    /// Parses a `tcp_info`. Fields that an older kernel does not have are 0.
    fn parse(info: &[u8]) -> Self {
        let short = |at| u32_at(info, at).unwrap_or(0);
        let long = |at| u64_at(info, at).unwrap_or(0);
        Self {
            since_sent_ms: short(44),
            since_received_ms: short(52),
            retransmits: short(TOTAL_RETRANSMITS_AT),
            bytes_sent: long(120),
            bytes_received: long(128),
            segments_received: short(152),
            segments_sent: short(156),
            busy_us: long(168),
            peer_window_us: long(176),
            send_buffer_us: long(184),
        }
    }

    /// Whether the last data was sent, but not answered yet. False if both happened within one tick of the kernel.
    pub(crate) fn awaits_reply(&self) -> bool {
        self.segments_sent > 0 && (self.segments_received == 0 || self.since_sent_ms < self.since_received_ms)
    }
}

const HEADER: usize = 16;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const BY_FAMILY: u16 = 20;
/// Flags of a request for all sockets: NLM_F_REQUEST and NLM_F_DUMP.
const REQUEST_ALL: u16 = 0x301;
const STATE_LISTEN: u32 = 1 << 10;
const STATE_ESTABLISHED: u32 = 1 << 1;
/// Extension with the counters of a connection, its bit in a request, and the offset of the retransmitted segments
/// (`tcpi_total_retrans`).
const TCP_INFO: u16 = 2;
const SHOW_TCP_INFO: u8 = 1 << (TCP_INFO - 1);
const TOTAL_RETRANSMITS_AT: usize = 100;
/// Request attribute that selects sockets with a bytecode that the kernel runs (INET_DIAG_REQ_BYTECODE).
const FILTER: u16 = 1;
const FILTER_JUMP: u8 = 1;
const FILTER_SOURCE: [u8; 2] = [2, 3];
const FILTER_DESTINATION: [u8; 2] = [4, 5];
/// Max number of ports that a filter excludes.
const FILTERED_MAX: usize = 512;
const INET: u8 = 2;
const INET6: u8 = 10;
const UNIX: u8 = 1;
const TCP: u8 = 6;
const UNIX_SHOW_NAME_FILE_QUEUE: u32 = 0x13;
const UNIX_SHOW_NAME_PEER: u32 = 0x05;
/// Max datagrams of one answer. Each has room for a few hundred sockets.
const DATAGRAMS_MAX: usize = 256;
const DATAGRAM_BYTES: usize = 32 << 10;
/// Timeout for an answer, which normally arrives at once.
const REPLY_TIMEOUT: Duration = Duration::from_millis(200);

/// A netlink socket for sock_diag requests.
pub(crate) struct SockDiag {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl SockDiag {
    pub(crate) fn open() -> io::Result<Self> {
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        let socket = socket_with(family, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(REPLY_TIMEOUT))?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; DATAGRAM_BYTES] })
    }

    /// Listening sockets of IPv4, then of IPv6.
    pub(crate) fn tcp(&mut self) -> io::Result<Vec<Listening>> {
        let mut found = Vec::new();
        for family in [INET, INET6] {
            let mut body = vec![family, TCP, 0, 0];
            body.extend(STATE_LISTEN.to_ne_bytes());
            body.resize(56, 0);
            self.dump(&body, |answer| found.extend(parse_listening(answer)))?;
        }
        Ok(found)
    }

    /// Connections that were not accepted on any of `ports`, and are not to port `served`.
    pub(crate) fn established(
        &mut self,
        ports: &[u16],
        served: Option<u16>,
    ) -> io::Result<Vec<TcpConnection>> {
        self.connections(SHOW_TCP_INFO, &filter(ports, served), parse_connected)
    }

    /// Lower 32 bits of the inodes of connections to a local port; 0 for a connection that was not accepted yet.
    pub(crate) fn accepted(&mut self, port: u16) -> io::Result<Vec<u32>> {
        self.connections(0, &local_port_filter(port), |message| u32_at(message, 68))
    }

    /// Connections to a local port with their counters, accepted or not.
    pub(crate) fn served(&mut self, port: u16) -> io::Result<Vec<TcpConnection>> {
        self.connections(SHOW_TCP_INFO, &local_port_filter(port), parse_connected)
    }

    /// Connections that pass a filter.
    fn connections<T>(
        &mut self,
        extensions: u8,
        filter: &[u8],
        read: fn(&[u8]) -> Option<T>,
    ) -> io::Result<Vec<T>> {
        let mut found = Vec::new();
        for family in [INET, INET6] {
            let mut body = vec![family, TCP, extensions, 0];
            body.extend(STATE_ESTABLISHED.to_ne_bytes());
            body.resize(56, 0);
            if !filter.is_empty() {
                body.extend(u16::try_from(4 + filter.len()).unwrap_or(u16::MAX).to_ne_bytes());
                body.extend(FILTER.to_ne_bytes());
                body.extend(filter);
            }
            self.dump(&body, |answer| found.extend(read(answer)))?;
        }
        Ok(found)
    }

    pub(crate) fn unix(&mut self) -> io::Result<Vec<UnixListening>> {
        self.dump_unix(STATE_LISTEN, UNIX_SHOW_NAME_FILE_QUEUE, parse_unix_listening)
    }

    /// Returns both ends of all connections between Unix sockets.
    pub(crate) fn unix_connections(&mut self) -> io::Result<Vec<UnixConnection>> {
        self.dump_unix(STATE_ESTABLISHED, UNIX_SHOW_NAME_PEER, parse_unix_connection)
    }

    /// Unix sockets in a state, with the attributes `shown`.
    fn dump_unix<T>(&mut self, state: u32, shown: u32, read: fn(&[u8]) -> Option<T>) -> io::Result<Vec<T>> {
        let mut found = Vec::new();
        let mut body = vec![UNIX, 0, 0, 0];
        body.extend(state.to_ne_bytes());
        body.extend(0_u32.to_ne_bytes());
        body.extend(shown.to_ne_bytes());
        body.resize(24, 0);
        self.dump(&body, |answer| found.extend(read(answer)))?;
        Ok(found)
    }

    fn dump(&mut self, body: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(self.sequence, body);
        let kernel = netlink::SocketAddrNetlink::new(0, 0);
        sendto(&self.socket, &request, SendFlags::empty(), &kernel)?;
        for _ in 0..DATAGRAMS_MAX {
            let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let datagram = self.buffer.get(..length).unwrap_or_default();
            match read_datagram(datagram, self.sequence, &mut each) {
                DatagramEnd::More => {}
                DatagramEnd::All => return Ok(()),
                DatagramEnd::Refused(errno) => return Err(io::Error::from_raw_os_error(errno)),
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
enum DatagramEnd {
    More,
    All,
    Refused(i32),
}

/// Reads messages in sequence, each padded to four bytes. Messages with another sequence number answer an earlier request.
fn read_datagram(mut rest: &[u8], sequence: u32, each: &mut impl FnMut(&[u8])) -> DatagramEnd {
    while let (Some(length), Some(kind), Some(number)) = (u32_at(rest, 0), u16_at(rest, 4), u32_at(rest, 8)) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(message) = rest.get(HEADER..length) else { break };
        if number == sequence {
            match kind {
                DONE => return DatagramEnd::All,
                ERROR => {
                    let errno = u32_at(message, 0).unwrap_or(0).cast_signed();
                    return if errno == 0 {
                        DatagramEnd::All
                    } else {
                        DatagramEnd::Refused(errno.saturating_neg())
                    };
                }
                BY_FAMILY => each(message),
                _ => {}
            }
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    DatagramEnd::More
}

/// Parses an `inet_diag_msg`.
fn parse_listening(message: &[u8]) -> Option<Listening> {
    let port = u16::from_be_bytes(message.get(4..6)?.try_into().ok()?);
    let (waiting, limit) = (u32_at(message, 56)?, u32_at(message, 60)?);
    Some(Listening { inode: u32_at(message, 68)?, port, waiting, limit })
}

/// Bytecode that excludes sockets with a local port in `ports` or a remote port `served`. Each port is compared with ≥ and ≤. A
/// match reaches a jump beyond the end of the code, which makes the kernel reject the socket.
fn filter(ports: &[u16], served: Option<u16>) -> Vec<u8> {
    let sources = ports.iter().take(FILTERED_MAX).map(|port| (FILTER_SOURCE, *port));
    let left_out: Vec<([u8; 2], u16)> =
        sources.chain(served.map(|port| (FILTER_DESTINATION, port))).collect();
    let mut code = Vec::with_capacity(left_out.len() * 20);
    let mut step = |code_and_yes: [u8; 2], no: usize| {
        code.extend(code_and_yes);
        code.extend(u16::try_from(no).unwrap_or(u16::MAX).to_ne_bytes());
    };
    for (behind, ([not_below, not_above], port)) in left_out.iter().rev().enumerate().rev() {
        let behind = behind * 20;
        step([*not_below, 8], 20);
        step([0, 0], usize::from(*port));
        step([*not_above, 8], 12);
        step([0, 0], usize::from(*port));
        step([FILTER_JUMP, 4], 4 + behind + 4);
    }
    code
}

/// Bytecode that accepts only sockets with this local port.
fn local_port_filter(port: u16) -> Vec<u8> {
    let [not_below, not_above] = FILTER_SOURCE;
    let mut code = Vec::with_capacity(16);
    // A jump beyond the end rejects the socket.
    for (comparison, behind) in [(not_below, 20_u16), (not_above, 12)] {
        code.extend([comparison, 8]);
        code.extend(behind.to_ne_bytes());
        code.extend([0, 0]);
        code.extend(port.to_ne_bytes());
    }
    code
}

/// Parses an `inet_diag_msg` and its attributes.
fn parse_connected(message: &[u8]) -> Option<TcpConnection> {
    let family = *message.first()?;
    let end = |port_at: usize, address_at: usize| {
        let port = u16::from_be_bytes(message.get(port_at..port_at + 2)?.try_into().ok()?);
        let bytes: [u8; 16] = message.get(address_at..address_at + 16)?.try_into().ok()?;
        let address = match family {
            INET => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
            _ => IpAddr::V6(Ipv6Addr::from(bytes)),
        };
        Some(SocketAddr::new(address, port))
    };
    let mut traffic = Traffic::default();
    each_attribute(message.get(72..)?, |kind, value| {
        if kind == TCP_INFO {
            traffic = Traffic::parse(value);
        }
    });
    Some(TcpConnection {
        local: end(4, 8)?,
        remote: end(6, 24)?,
        receive_queue_bytes: u32_at(message, 56)?,
        send_queue_bytes: u32_at(message, 60)?,
        inode: u32_at(message, 68)?,
        traffic,
    })
}

/// Reads attributes in sequence, each padded to four bytes.
fn each_attribute<'a>(mut rest: &'a [u8], mut each: impl FnMut(u16, &'a [u8])) {
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let length = usize::from(length);
        let Some(value) = rest.get(4..length) else { break };
        each(kind, value);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

/// Parses a `unix_diag_msg` and its attributes.
fn parse_unix_listening(message: &[u8]) -> Option<UnixListening> {
    let (mut path, mut file, mut queue) = (PathBuf::new(), None, None);
    each_attribute(message.get(16..)?, |kind, value| match kind {
        0 => path = OsStr::from_bytes(value.split(|byte| *byte == 0).next().unwrap_or_default()).into(),
        1 => file = u32_at(value, 0).zip(u32_at(value, 4).map(device)),
        4 => queue = u32_at(value, 0).zip(u32_at(value, 4)),
        _ => {}
    });
    let (waiting, limit) = queue?;
    Some(UnixListening { path, file, waiting, limit })
}

/// Parses a `unix_diag_msg` and its attributes.
fn parse_unix_connection(message: &[u8]) -> Option<UnixConnection> {
    let (mut path, mut peer) = (PathBuf::new(), None);
    each_attribute(message.get(16..)?, |kind, value| match kind {
        0 => path = OsStr::from_bytes(value.split(|byte| *byte == 0).next().unwrap_or_default()).into(),
        2 => peer = u32_at(value, 0),
        _ => {}
    });
    Some(UnixConnection { inode: u32_at(message, 4)?, path, peer })
}

/// Major and minor number, in the kernel's internal encoding.
fn device(packed: u32) -> (u32, u32) {
    (packed >> 20, packed & 0xf_ffff)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
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
    fn answers_to_this_request_are_read_up_to_the_end() {
        let mut bytes = message(BY_FAMILY, 6, &inet(1, 1, 1));
        bytes.extend(message(BY_FAMILY, 7, &inet(8080, 2, 128)));
        let mut found = Vec::new();
        let mut each = |body: &[u8]| found.extend(parse_listening(body));
        assert_eq!(read_datagram(&bytes, 7, &mut each), DatagramEnd::More);
        bytes.extend(message(DONE, 7, &[0; 4]));
        assert_eq!(read_datagram(&bytes, 7, &mut |_| {}), DatagramEnd::All);
        assert_eq!(found, [Listening { inode: 0, port: 8080, waiting: 2, limit: 128 }]);
        let refused = message(ERROR, 7, &(-2_i32).to_ne_bytes());
        assert_eq!(read_datagram(&refused, 7, &mut |_| {}), DatagramEnd::Refused(2));
    }

    #[test]
    fn unix_socket_has_path_file_and_queue() {
        let expected =
            UnixListening { path: "/run/a.sock".into(), file: Some((5, (8, 1))), waiting: 3, limit: 64 };
        assert_eq!(parse_unix_listening(&unix_message()), Some(expected));
    }

    #[test]
    fn truncated_and_corrupt_messages_do_not_panic() {
        let mut whole = message(BY_FAMILY, 7, &inet(1, 2, 3));
        whole.extend(message(BY_FAMILY, 7, &unix_message()));
        for at in 0..whole.len() {
            let mut each = |body: &[u8]| {
                parse_listening(body);
                parse_connected(body);
                parse_unix_listening(body);
            };
            assert_eq!(read_datagram(&whole[..at], 7, &mut each), DatagramEnd::More);
            for value in [0, 1, 255] {
                let mut broken = whole.clone();
                broken[at] = value;
                read_datagram(&broken, 7, &mut each);
            }
        }
    }

    #[test]
    fn connection_has_two_ends_and_queues() {
        let mut body = vec![0; 72];
        body[0] = INET;
        body[4..6].copy_from_slice(&40_000_u16.to_be_bytes());
        body[6..8].copy_from_slice(&5_432_u16.to_be_bytes());
        body[8..12].copy_from_slice(&[127, 0, 0, 1]);
        body[24..28].copy_from_slice(&[10, 0, 0, 7]);
        for (at, value) in [(56, 3_u32), (60, 4), (68, 99)] {
            body[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        let mut info = vec![0; TOTAL_RETRANSMITS_AT];
        info.extend(5_u32.to_ne_bytes());
        let expected = TcpConnection {
            inode: 99,
            local: "127.0.0.1:40000".parse().unwrap(),
            remote: "10.0.0.7:5432".parse().unwrap(),
            receive_queue_bytes: 3,
            send_queue_bytes: 4,
            traffic: Traffic::default(),
        };
        assert_eq!(parse_connected(&body), Some(expected));
        body.extend(attribute(TCP_INFO, &info));
        let traffic = Traffic { retransmits: 5, ..Traffic::default() };
        assert_eq!(
            parse_connected(&body),
            Some(TcpConnection { traffic, ..expected }),
            "an old kernel has no more"
        );
        assert_eq!(parse_connected(&body[..71]), None);
    }

    #[test]
    fn kernel_counts_data_and_shows_a_reply_that_is_awaited() {
        use std::io::{Read, Write};
        let Ok(mut kernel) = SockDiag::open() else { return };
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let mut client = std::net::TcpStream::connect(at).unwrap();
        let (mut peer, _) = server.accept().unwrap();
        let mut read = || {
            let all = kernel.established(&[at.port()], None).ok()?;
            Some(all.iter().find(|one| one.remote == at).expect("the client's end").traffic)
        };
        let Some(before) = read() else { return };
        assert!(!before.awaits_reply());
        client.write_all(&[1; 10]).unwrap();
        let asked = read().expect("counters");
        assert_eq!((asked.segments_sent, asked.segments_received, asked.awaits_reply()), (1, 0, true));
        peer.read_exact(&mut [0; 10]).unwrap();
        // The kernel distinguishes both times only by its ticks.
        std::thread::sleep(Duration::from_millis(25));
        peer.write_all(&[2; 30]).unwrap();
        client.read_exact(&mut [0; 30]).unwrap();
        let answered = read().expect("counters");
        assert_eq!((answered.segments_received, answered.bytes_received), (1, 30));
        assert!(!answered.awaits_reply(), "{answered:?}");
    }

    #[test]
    fn kernel_lists_connections_except_filtered_ones() {
        let Ok(mut kernel) = SockDiag::open() else { return };
        let servers = [(); 3].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = servers.each_ref().map(|server| server.local_addr().unwrap().port());
        let clients = ports.map(|port| std::net::TcpStream::connect(("127.0.0.1", port)).unwrap());
        let mut seen = |left_out: &[u16], served| {
            let found = kernel.established(left_out, served).ok()?;
            let of = |port| {
                let client = clients.iter().any(|client| client.local_addr().unwrap().port() == port);
                client || ports.contains(&port)
            };
            let found = found.iter().filter(|parse_connected| of(parse_connected.local.port()));
            let mut found: Vec<[u16; 2]> = found
                .map(|parse_connected| [parse_connected.local.port(), parse_connected.remote.port()])
                .collect();
            found.sort_unstable();
            Some(found)
        };
        let Some(all) = seen(&[], None) else { return };
        assert_eq!(all.len(), 6, "both ends of each: {all:?}");
        let some = seen(&ports[..2], Some(ports[0])).unwrap();
        let is_left_out = |[local, remote]: [u16; 2]| ports[..2].contains(&local) || remote == ports[0];
        let expected: Vec<[u16; 2]> = all.into_iter().filter(|ends| !is_left_out(*ends)).collect();
        assert_eq!(some, expected);
        assert_eq!(some.len(), 3);
    }

    #[test]
    fn kernel_lists_a_listening_socket() {
        let Ok(mut kernel) = SockDiag::open() else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let Ok(sockets) = kernel.tcp() else { return };
        assert_eq!(sockets.iter().filter(|socket| socket.port == port).count(), 1);
    }
}
