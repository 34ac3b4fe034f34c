//! The built-in target as a program of its own, that signals can be sent to.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{Home, TENBIN, until};

/// Ends when it is dropped.
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
        let stdout = std::fs::File::create(&place).expect("a file");
        let child = command.stdout(stdout).stderr(Stdio::null()).spawn().expect("started");
        let mut line = String::new();
        until("it says where", || {
            line = std::fs::read_to_string(&place).expect("UTF-8");
            line.ends_with('\n')
        });
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("a URL").to_owned();
        Self { child, url }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("told");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A stopped process can be killed, too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
