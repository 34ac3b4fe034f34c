//! The built-in target as a separate process, which can get signals.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{Home, TENBIN, TIMEOUT, until};

/// Process of a built-in target. Dropping it ends the process.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        let place = home.path().join("place");
        let mut command = Command::new(TENBIN);
        command.args(["target", "--listen", "127.0.0.1:0"]);
        home.isolate(&mut command);
        let stdout = fs::File::create(&place).expect("a file");
        let child = command.stdout(stdout).stderr(Stdio::null()).spawn().expect("started");
        let mut line = String::new();
        until("it says where", || {
            line = fs::read_to_string(&place).expect("UTF-8");
            line.ends_with('\n')
        });
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("a URL").to_owned();
        Self { child, url }
    }

    /// Number of requests that the target has answered. Requests to /counters do not count.
    pub(crate) fn requests(&self) -> u64 {
        let address = self.url.strip_prefix("http://").expect("a URL").trim_end_matches('/');
        let mut socket = TcpStream::connect(address).expect("a connection");
        socket.set_read_timeout(Some(TIMEOUT)).expect("a limit");
        socket.write_all(b"GET /counters HTTP/1.0\r\n\r\n").expect("asked");
        let mut reply = String::new();
        socket.read_to_string(&mut reply).expect("a reply");
        let (_, body) = reply.split_once("\r\n\r\n").expect("a body");
        let counters: serde_json::Value = serde_json::from_str(body).expect("JSON");
        counters["requests"].as_u64().expect("a number")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("told");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL also ends a stopped process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
