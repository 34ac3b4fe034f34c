//! TCP server with one thread per connection.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Running server. Dropping it stops it.
pub(crate) struct Acceptor {
    pub(crate) address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Starts the server. `serve` gets the number of the connection, from 0, its socket, and a flag that is set when the server
    /// stops.
    pub(crate) fn start(serve: impl Fn(usize, &TcpStream, &AtomicBool) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (is_over, serve) = (Arc::new(AtomicBool::new(false)), Arc::new(serve));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut serving = Vec::new();
            for (connection, socket) in listener.incoming().enumerate() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                let Ok(socket) = socket else { continue };
                let (over, serve) = (Arc::clone(&over), Arc::clone(&serve));
                serving.push(thread::spawn(move || serve(connection, &socket, &over)));
            }
            // An error means that the client has closed the connection.
            serving.into_iter().for_each(|thread| drop(thread.join()));
        });
        Self { address, is_over, thread: Some(thread) }
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the thread that blocks in accept.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
