//! A server that answers lines, one thread for each connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::acceptor::Acceptor;

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
    acceptor: Acceptor,
}

impl Lines {
    /// Answers line by line; the lines of each connection are counted from 0.
    pub(crate) fn start(answer: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Self {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        let acceptor = Acceptor::start(move |connection, socket, _| {
            let _ = serve(connection, socket, &all, &answer);
        });
        Self { address: acceptor.address, heard, acceptor }
    }

    /// The lines of each connection so far.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        self.heard.lock().expect("no thread died").clone()
    }

    /// Ends it, and tells the lines of each connection, in the order of the connections.
    pub(crate) fn heard(self) -> Vec<Vec<String>> {
        drop(self.acceptor);
        self.heard.lock().expect("no thread died").clone()
    }
}

/// `None` at the end of the connection.
fn serve(
    connection: usize,
    socket: &TcpStream,
    heard: &Mutex<Vec<Vec<String>>>,
    answer: &(dyn Fn(usize, &str) -> Answer + Send + Sync),
) -> Option<()> {
    let mut all = heard.lock().ok()?;
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
