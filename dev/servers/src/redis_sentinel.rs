//! Redis Sentinel for tests: a master, its replica, and a Sentinel that fails over.

use std::thread;
use std::time::Duration;

use crate::folder::Folder;
use crate::missing::Missing;
use crate::program;
use crate::redis::{PACKAGE, Redis};
use crate::server::{self, Server};

/// Name of the master in the Sentinel's configuration.
pub const MASTER_NAME: &str = "mymaster";
/// Max number of checks whether the Sentinel knows the replica, and the interval between them.
const POLLS_MAX: u32 = 300;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Master, replica, and Sentinel. Dropping the value stops all servers and removes their folders.
#[derive(Debug)]
pub struct RedisSentinel {
    /// Initial master.
    pub master: Redis,
    /// Replica, which becomes the master when the initial master is killed.
    pub replica: Redis,
    _sentinel: Server,
    port: u16,
    // Last field, because a server needs its folder until its end.
    _folder: Folder,
}

impl RedisSentinel {
    /// Starts the servers, and waits until the Sentinel knows master and replica. The Sentinel fails over if the master does not
    /// respond for half a second.
    ///
    /// # Errors
    ///
    /// If Redis is not installed, or does not start.
    pub fn start() -> Result<Self, Missing> {
        let master = Redis::start(&["--repl-diskless-sync-delay", "0"])?;
        let replica = Redis::start(&["--replicaof", "127.0.0.1", &master.port().to_string()])?;
        let folder = Folder::new("sentinel", None)?;
        let (_sentinel, port) =
            server::retry_with_free_port(|port| Ok((run(&folder, port, master.port())?, port)))?;
        let started = Self { master, replica, _sentinel, port, _folder: folder };
        for _ in 0..POLLS_MAX {
            if started.knows_replica() {
                return Ok(started);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Err(Missing::failed("redis-server --sentinel", "it did not find the replica in 30 s"))
    }

    /// Returns the URL `redis+sentinel://127.0.0.1:port/mymaster`.
    pub fn url(&self) -> String {
        format!("redis+sentinel://127.0.0.1:{}/{MASTER_NAME}", self.port)
    }

    fn knows_replica(&self) -> bool {
        let port = self.replica.port().to_string();
        let replicas = self.master.cli_at(self.port, &["SENTINEL", "REPLICAS", MASTER_NAME]);
        let link = self.replica.cli(&["INFO", "replication"]);
        replicas.is_ok_and(|said| said.contains(&port))
            && link.is_ok_and(|said| said.contains("master_link_status:up"))
    }
}

fn run(folder: &Folder, port: u16, master: u16) -> Result<Server, Missing> {
    let path = folder.path().display().to_string();
    let config = format!(
        "port {port}\nbind 127.0.0.1\ndir {path}\nsentinel monitor {MASTER_NAME} 127.0.0.1 {master} 1\n\
         sentinel down-after-milliseconds {MASTER_NAME} 500\nsentinel failover-timeout {MASTER_NAME} 5000\n"
    );
    let config = folder.write("sentinel.conf", &config)?;
    let mut command = program::command(&program::find("redis-server", PACKAGE)?, None, None, "KILL")?;
    command.arg(config).arg("--sentinel");
    Server::start(command, &server::log_path(folder.path()), |_, log| log.contains("Sentinel ID is"))
}
