//! A server that answers lines, one thread for each connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the server does about a line.
pub(crate) enum Answer {
    /// Says this, at once.
    Say(&'static str),
    /// Says this after a while.
    Later(Duration, &'static str),
    /// Says nothing.
    Silence,
    /// Closes the connection.
    Close,
    /// Says this, and closes.
    SayAndClose(&'static str),
    /// Resets the connection.
    Reset,
}

/// The server; dropping it ends it.
pub(crate) struct Lines {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<Vec<String>>>>,
    is_over: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Lines {
    /// Answers line by line; the lines of each connection are counted from 0.
    pub(crate) fn start(answer: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (heard, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (all, over, answer) = (Arc::clone(&heard), Arc::clone(&is_over), Arc::new(answer));
        let acceptor = thread::spawn(move || {
            let mut players = Vec::new();
            for (connection, socket) in listener.incoming().enumerate() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                let Ok(socket) = socket else { continue };
                all.lock().expect("no thread died").push(Vec::new());
                let (heard, answer) = (Arc::clone(&all), Arc::clone(&answer));
                players.push(thread::spawn(move || serve(connection, &socket, &heard, &*answer)));
            }
            for player in players {
                // The client has closed: nothing can go on.
                let _ = player.join();
            }
        });
        Self { address, heard, is_over, acceptor: Some(acceptor) }
    }

    /// The lines of each connection so far.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        self.heard.lock().expect("no thread died").clone()
    }

    /// Ends it, and tells the lines of each connection, in the order of the connections.
    pub(crate) fn heard(mut self) -> Vec<Vec<String>> {
        self.end();
        self.lines()
    }

    fn end(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the thread that waits in accept.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.end();
    }
}

/// `None` at the end of the connection.
fn serve(
    connection: usize,
    socket: &TcpStream,
    heard: &Mutex<Vec<Vec<String>>>,
    answer: &(dyn Fn(usize, &str) -> Answer + Send + Sync),
) -> Option<()> {
    socket.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    socket.set_nodelay(true).ok()?;
    let (mut reader, mut writer) = (BufReader::new(socket), socket);
    for number in 0.. {
        let mut line = String::new();
        let count = reader.read_line(&mut line).ok()?;
        if count == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        heard.lock().ok()?[connection].push(line.clone());
        match answer(number, &line) {
            Answer::Say(text) => writer.write_all(text.as_bytes()).ok()?,
            Answer::Later(after, text) => {
                thread::sleep(after);
                writer.write_all(text.as_bytes()).ok()?;
            }
            Answer::Silence => {}
            Answer::Close => return socket.shutdown(Shutdown::Both).ok(),
            Answer::SayAndClose(text) => {
                writer.write_all(text.as_bytes()).ok()?;
                return socket.shutdown(Shutdown::Both).ok();
            }
            Answer::Reset => {
                let _ = rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO));
                return None;
            }
        }
    }
    None
}
