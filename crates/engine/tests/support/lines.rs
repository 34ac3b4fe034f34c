//! Server that answers lines, with one thread per connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::acceptor::Acceptor;

/// Answer of the server to a line.
pub(crate) enum Answer {
    /// Sends this immediately.
    Say(&'static str),
    /// Sends this after a delay.
    Later(Duration, &'static str),
    /// Sends nothing.
    Silence,
    /// Closes the connection.
    Close,
    /// Sends this, and closes the connection.
    SayAndClose(&'static str),
    /// Resets the connection.
    Reset,
}

/// Running server. Dropping it stops it.
pub(crate) struct Lines {
    pub(crate) address: SocketAddr,
    received_lines: Arc<Mutex<Vec<Vec<String>>>>,
    acceptor: Acceptor,
}

impl Lines {
    /// Starts the server. `answer` gets the number of the line on its connection, from 0, and the line.
    pub(crate) fn start(answer: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Self {
        let received_lines = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&received_lines);
        let acceptor = Acceptor::start(move |connection, socket, _| {
            let _ = serve(connection, socket, &all, &answer);
        });
        Self { address: acceptor.address, received_lines, acceptor }
    }

    /// Returns the lines received so far, by connection.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        self.received_lines.lock().expect("no thread died").clone()
    }

    /// Stops the server. Returns the lines received, by connection in the order of connecting.
    pub(crate) fn received_lines(self) -> Vec<Vec<String>> {
        drop(self.acceptor);
        self.received_lines.lock().expect("no thread died").clone()
    }
}

/// Serves a connection. Returns `None` at its end.
fn serve(
    connection: usize,
    socket: &TcpStream,
    received_lines: &Mutex<Vec<Vec<String>>>,
    answer: &(dyn Fn(usize, &str) -> Answer + Send + Sync),
) -> Option<()> {
    let mut all = received_lines.lock().ok()?;
    let count = all.len().max(connection + 1);
    all.resize_with(count, Vec::new);
    drop(all);
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
        received_lines.lock().ok()?[connection].push(line.clone());
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
