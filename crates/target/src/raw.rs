//! Raw TCP server with one thread per connection, which reads any bytes and replies by one of three rules.
//!
//! Uses blocking reads, like simple servers: each arrival wakes the connection's thread, which makes the effect of write sizes
//! visible.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Buffer size of a read, in bytes.
const BUFFER_BYTES: usize = 64 << 10;
/// Maximum number of concurrent connections. Further ones are closed.
const CONNECTIONS_MAX: usize = 4096;
/// Timeout of a write to a client that does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reply rule of a raw TCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawMode {
    /// Sends back the received bytes.
    Echo,
    /// Repeatedly reads this many bytes, at least one, and sends one byte.
    Sink(u64),
    /// Replies to each line with this many bytes, the last of which is a line feed.
    Source(u64),
}

/// Raw TCP server that runs until it is stopped.
#[derive(Debug)]
pub struct RawServer {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl RawServer {
    /// Listens on a loopback or private address. Port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// If the address is public, or if listening on it fails.
    pub fn start(address: SocketAddr, mode: RawMode) -> io::Result<Self> {
        if !is_private_address(address.ip()) {
            let what = format!("{} is a public address; write a loopback or private one", address.ip());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let listener = TcpListener::bind(address)?;
        let (address, is_stopped) = (listener.local_addr()?, Arc::<AtomicBool>::default());
        let heard = Arc::clone(&is_stopped);
        let accepting =
            thread::Builder::new().name("raw".to_owned()).spawn(move || accept(&listener, mode, &heard))?;
        Ok(Self { address, is_stopped, accepting: Some(accepting) })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening. Open connections last until the program ends.
    pub fn stop(mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // Wakes the accepting thread.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_millis(200)));
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
    }
}

/// Returns true for a loopback, private, or link-local address.
fn is_private_address(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

fn accept(listener: &TcpListener, mode: RawMode, is_stopped: &AtomicBool) {
    let open = Arc::<AtomicUsize>::default();
    for stream in listener.incoming() {
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // Accepting may fail for lack of file descriptors. Retries, because closed connections free some.
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let counted = Arc::clone(&open);
        let serving = thread::Builder::new().spawn(move || {
            // A disconnected client is not an error.
            drop(serve(stream, mode));
            counted.fetch_sub(1, Ordering::Relaxed);
        });
        if serving.is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve(mut stream: TcpStream, mode: RawMode) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut taken = 0;
    loop {
        let count = match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => count,
        };
        match mode {
            RawMode::Echo => stream.write_all(&buffer[..count])?,
            RawMode::Sink(volume) => {
                taken += count as u64;
                while taken >= volume.max(1) {
                    taken -= volume.max(1);
                    stream.write_all(b"\n")?;
                }
            }
            RawMode::Source(volume) => {
                let lines = buffer[..count].iter().filter(|byte| **byte == b'\n').count();
                (0..lines).try_for_each(|_| send(&mut stream, volume))?;
            }
        }
    }
}

fn send(stream: &mut TcpStream, volume: u64) -> io::Result<()> {
    let block = [b'x'; 4096];
    let mut left = volume.saturating_sub(1);
    while left > 0 {
        let count = left.min(block.len() as u64);
        stream.write_all(&block[..count as usize])?;
        left -= count;
    }
    stream.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(mode: RawMode, question: &[u8], answer_bytes: usize) -> Vec<u8> {
        let server = RawServer::start("127.0.0.1:0".parse().unwrap(), mode).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(question).unwrap();
        let mut answer = vec![0; answer_bytes];
        stream.read_exact(&mut answer).unwrap();
        server.stop();
        answer
    }

    #[test]
    fn each_mode_replies_by_its_rule() {
        assert_eq!(ask(RawMode::Echo, b"hello", 5), b"hello");
        assert_eq!(ask(RawMode::Sink(3), b"abcabc", 2), b"\n\n");
        assert_eq!(ask(RawMode::Source(5), b"a\n", 5), b"xxxx\n");
        assert_eq!(ask(RawMode::Source(10_000), b"a\n", 10_000).last(), Some(&b'\n'));
    }

    #[test]
    fn public_address_is_rejected() {
        let error = RawServer::start("8.8.8.8:0".parse().unwrap(), RawMode::Echo).unwrap_err();
        assert!(error.to_string().contains("public address"), "{error}");
    }
}
