//! PgBouncer for tests.

use std::path::Path;

use crate::account::Account;
use crate::folder::Folder;
use crate::missing::Missing;
use crate::postgres::Postgres;
use crate::program;
use crate::server::{self, Server};

/// PgBouncer in front of a server, where it logs in as [`Postgres::USER`]. Dropping it stops PgBouncer and removes its folder.
#[derive(Debug)]
pub struct PgBouncer {
    _server: Server,
    port: u16,
    // Last field, because PgBouncer needs its folder until its end.
    folder: Folder,
}

impl PgBouncer {
    /// Starts the first `pgbouncer` in `PATH` in front of a server, and waits until it listens. `settings` are parameters of the
    /// section `[pgbouncer]`, such as `pool_mode`. They override the defaults of this crate.
    ///
    /// # Errors
    ///
    /// If PgBouncer is not installed, or does not start.
    pub fn start(behind: &Postgres, settings: &[(&str, &str)]) -> Result<Self, Missing> {
        let folder = Folder::new("pgbouncer", account())?;
        let (server, port) =
            server::retry_with_free_port(|port| Ok((run(&folder, port, behind, settings)?, port)))?;
        Ok(Self { _server: server, port, folder })
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL `postgres://postgres@127.0.0.1:port/postgres`.
    pub fn url(&self) -> String {
        format!("postgres://{}@127.0.0.1:{}/{}", Postgres::USER, self.port, Postgres::DATABASE)
    }

    /// Returns the complete log.
    pub fn log(&self) -> String {
        server::log(self.folder.path())
    }
}

fn account() -> Option<Account> {
    Account::for_server("postgres")
}

fn run(folder: &Folder, port: u16, behind: &Postgres, settings: &[(&str, &str)]) -> Result<Server, Missing> {
    let file = folder.write("pgbouncer.ini", &configuration(folder.path(), port, behind, settings))?;
    let mut command = program::command(&program::find("pgbouncer", "pgbouncer")?, account(), None, "KILL")?;
    command.arg(file);
    Server::start(command, &server::log_path(folder.path()), |_, log| log.contains("process up"))
}

fn configuration(folder: &Path, port: u16, behind: &Postgres, settings: &[(&str, &str)]) -> String {
    let usual = [("listen_addr", "127.0.0.1"), ("auth_type", "any"), ("max_client_conn", "200")];
    let is_given = |name: &str| settings.iter().any(|(given, _)| *given == name);
    let usual = usual.iter().filter(|(name, _)| !is_given(name));
    let lines: String = usual.chain(settings).map(|(name, value)| format!("{name} = {value}\n")).collect();
    format!(
        "[databases]\n* = host=127.0.0.1 port={} user={} password='{}'\n[pgbouncer]\nlisten_port = {port}\n\
         unix_socket_dir = {}\n{lines}",
        behind.port(),
        Postgres::USER,
        Postgres::PASSWORD,
        folder.display(),
    )
}
