//! Test setup: a proxy in front of a listener, and timeouts.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use proxy::{BUFFER_BYTES, Counters, Endpoint, ProxyConfig, Running, Settings};

/// Timeout that is longer than any operation here, but ends a hanging test.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Proxy, and the listener that it forwards to.
pub(crate) struct TestProxy {
    pub(crate) proxy: Running,
    pub(crate) listener: TcpListener,
}

pub(crate) fn place(listen: Endpoint, target: Endpoint) -> ProxyConfig {
    ProxyConfig { listen, target, connections_max: None, buffer_bytes: BUFFER_BYTES, seed: 1 }
}

pub(crate) fn any_port() -> Endpoint {
    Endpoint::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)))
}

impl TestProxy {
    pub(crate) fn new(settings: Settings) -> Self {
        Self::with(settings, |_| {})
    }

    pub(crate) fn with(settings: Settings, change: impl FnOnce(&mut ProxyConfig)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut place = place(any_port(), Endpoint::Tcp(listener.local_addr().unwrap()));
        change(&mut place);
        Self { proxy: proxy::start(&place, settings).unwrap(), listener }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        match self.proxy.endpoint() {
            Endpoint::Tcp(address) => *address,
            Endpoint::Unix(path) => panic!("{path:?}"),
        }
    }

    /// Connects a client.
    pub(crate) fn client(&self) -> TcpStream {
        with_timeouts(TcpStream::connect(self.address()).unwrap())
    }

    /// Returns both ends of a connection through the proxy.
    pub(crate) fn ends(&self) -> (TcpStream, TcpStream) {
        let client = self.client();
        (client, with_timeouts(self.listener.accept().unwrap().0))
    }

    /// Waits until the counters satisfy a condition.
    #[track_caller]
    pub(crate) fn wait_for(&self, is_expected: impl Fn(&Counters) -> bool) -> Counters {
        let begun = Instant::now();
        loop {
            let counters = self.proxy.counters();
            if is_expected(&counters) {
                return counters;
            }
            assert!(begun.elapsed() < TIMEOUT, "{counters:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Sets timeouts on a socket, so that a test fails instead of hanging.
pub(crate) fn with_timeouts(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Reads until the stream ends. Returns the data, and how it ended.
pub(crate) fn read_all(mut stream: &TcpStream) -> (Vec<u8>, std::io::Result<()>) {
    let mut all = Vec::new();
    let ended = stream.read_to_end(&mut all).map(|_| ());
    (all, ended)
}

/// Returns a byte pattern that reveals any loss, duplication, or reordering.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8 ^ (at / 251) as u8).collect()
}
