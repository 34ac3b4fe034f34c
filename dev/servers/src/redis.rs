//! Redis server for tests.

use std::process::Command;

use rustix::process::Signal;

use crate::folder::Folder;
use crate::missing::Missing;
use crate::program;
use crate::server::{self, Server};

pub(crate) const PACKAGE: &str = "redis-server";
const PORT_MAX: u16 = u16::MAX;
/// Offset from a cluster node's port to its cluster bus port.
const CLUSTER_OFFSET: u16 = 10_000;
/// Log line of a server that accepts connections.
const READY: &str = "Ready to accept connections";

/// Running Redis server, without persistence by default. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Redis {
    server: Server,
    port: u16,
    // Last field, because a server needs its folder until its end.
    folder: Folder,
}

impl Redis {
    /// Starts a server with additional options, such as `--requirepass`, and waits until it responds.
    ///
    /// # Errors
    ///
    /// If Redis is not installed, or does not start.
    pub fn start(options: &[&str]) -> Result<Self, Missing> {
        let folder = Folder::new("redis", None)?;
        // Nodes of a cluster also listen on their port + 10000.
        let port_max =
            if options.contains(&"--cluster-enabled") { PORT_MAX - CLUSTER_OFFSET } else { PORT_MAX };
        let (server, port) = server::retry_with_free_port(|port| {
            let port = if port > port_max { port - CLUSTER_OFFSET } else { port };
            Ok((run(&folder, port, options)?, port))
        })?;
        Ok(Self { server, port, folder })
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL `redis://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the path of the Unix socket.
    pub fn socket(&self) -> String {
        self.folder.path().join("socket").display().to_string()
    }

    /// Returns the process ID of the server.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Runs a command with redis-cli. Returns its output.
    ///
    /// # Errors
    ///
    /// If the client is not installed, or the server does not respond.
    pub fn cli(&self, words: &[&str]) -> Result<String, Missing> {
        self.cli_at(self.port, words)
    }

    /// Runs a command with redis-cli on another port of 127.0.0.1. Returns its output.
    pub(crate) fn cli_at(&self, port: u16, words: &[&str]) -> Result<String, Missing> {
        let mut client = Command::new(program::find("redis-cli", "redis-tools")?);
        client.args(["-p", &port.to_string()]).args(words);
        program::output(&client)
    }

    /// Returns the server's call count of a command. `command` is in lower case.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::cli`].
    pub fn calls(&self, command: &str) -> Result<u64, Missing> {
        let stats = self.cli(&["INFO", "commandstats"])?;
        let prefix = format!("cmdstat_{command}:calls=");
        let line = stats.lines().find_map(|line| line.strip_prefix(&prefix));
        let calls = line.and_then(|line| line.split(',').next()?.parse().ok());
        Ok(calls.unwrap_or(0))
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        self.server.end(Signal::KILL);
    }
}

fn run(folder: &Folder, port: u16, options: &[&str]) -> Result<Server, Missing> {
    let path = folder.path().display().to_string();
    let mut command = program::command(&program::find("redis-server", PACKAGE)?, None, None, "KILL")?;
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir", &path, "--save", ""]);
    command.args(["--unixsocket", &format!("{path}/socket")]).args(options);
    Server::start(command, &server::log_path(folder.path()), |_, log| log.contains(READY))
}
