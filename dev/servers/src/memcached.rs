//! memcached server for tests.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::folder::Folder;
use crate::missing::Missing;
use crate::program;
use crate::server::{self, Server};

const PACKAGE: &str = "memcached";
/// Package of the program that adds SASL users.
const SASL_PACKAGE: &str = "sasl2-bin";
/// Timeout of a request for statistics.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Running memcached server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Memcached {
    server: Server,
    port: u16,
    // Last field, because a server needs its folder until its end.
    _folder: Folder,
}

impl Memcached {
    /// Starts a server with additional options, such as `-m 64`, and waits until it responds. `users` are lines of `user:password`;
    /// `None` for no authentication.
    ///
    /// # Errors
    ///
    /// If memcached is not installed, or does not start.
    pub fn start(options: &[&str], users: Option<&str>) -> Result<Self, Missing> {
        let folder = Folder::new("memcached", None)?;
        let mut options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        if let Some(users) = users {
            let file = folder.path().join("users");
            std::fs::write(&file, users).map_err(|error| Missing::file(&file, error))?;
            options.extend(["-Y".to_owned(), file.display().to_string()]);
        }
        let (server, port) = server::retry_with_free_port(|port| Ok((run(&folder, port, &options)?, port)))?;
        Ok(Self { server, port, _folder: folder })
    }

    /// Starts a server with SASL authentication, which accepts only the binary protocol.
    ///
    /// # Errors
    ///
    /// If memcached or Cyrus SASL is not installed, or memcached does not start.
    pub fn with_sasl(user: &str, password: &str) -> Result<Self, Missing> {
        let folder = Folder::new("memcached", None)?;
        let users = folder.path().join("users.db");
        let mut add = Command::new(program::find("saslpasswd2", SASL_PACKAGE)?);
        add.args(["-c", "-p", "-a", PACKAGE, "-f"]).arg(&users).arg(user).stdin(Stdio::piped());
        let mut adding = add.spawn().map_err(|error| Missing::file(&users, error))?;
        if let Some(mut input) = adding.stdin.take() {
            input.write_all(password.as_bytes()).map_err(|error| Missing::file(&users, error))?;
        }
        adding.wait().map_err(|error| Missing::file(&users, error))?;
        let settings = format!(
            "mech_list: plain\npwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {}\n",
            users.display()
        );
        let file = folder.path().join("memcached.conf");
        std::fs::write(&file, settings).map_err(|error| Missing::file(&file, error))?;
        let options = ["-S".to_owned()];
        let (server, port) = server::retry_with_free_port(|port| Ok((run(&folder, port, &options)?, port)))?;
        Ok(Self { server, port, _folder: folder })
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL `memcached://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("memcached://127.0.0.1:{}", self.port)
    }

    /// Returns the statistic with this name, such as `cmd_set`. `None` if the server does not have it, or requires authentication.
    pub fn statistic(&self, name: &str) -> Option<u64> {
        let reply = self.ask("stats\r\n", "END\r\n")?;
        let prefix = format!("STAT {name} ");
        reply.lines().find_map(|line| line.strip_prefix(&prefix)?.parse().ok())
    }

    /// Sends bytes, and returns the reply up to `end`. `None` if the server closes the connection before.
    pub fn ask(&self, bytes: &str, end: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.write_all(bytes.as_bytes()).ok()?;
        let (mut reply, mut part) = (String::new(), [0; 4096]);
        while !reply.ends_with(end) {
            match stream.read(&mut part).ok()? {
                0 => return None,
                count => reply.push_str(&String::from_utf8_lossy(&part[..count])),
            }
        }
        Some(reply)
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        self.server.end(Signal::KILL);
    }
}

fn run(folder: &Folder, port: u16, options: &[String]) -> Result<Server, Missing> {
    let mut command = program::command(&program::find("memcached", PACKAGE)?, None, None, "KILL")?;
    command.env("SASL_CONF_PATH", folder.path());
    command.args(["-p", &port.to_string(), "-U", "0", "-l", "127.0.0.1", "-u", "root"]).args(options);
    Server::start(command, &server::log_path(folder.path()), |_, _| {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    })
}
