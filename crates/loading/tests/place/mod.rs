//! Real servers as databases to fill.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Endpoint, Peer};
use loading::{Database, DatabaseLocation, Error, Loaded, Observer, Options, Plan, run};
use servers::{MariaDb, Postgres};
use sql::{Engine, workload};
use wire::sql::{Login, Secret};

fn peer(port: u16) -> Peer {
    Peer::of(Endpoint::Tcp(SocketAddr::from(([127, 0, 0, 1], port))), None)
}

fn login(user: &str, password: &str, database: &str) -> Arc<Login> {
    let password = Some(Secret(password.into()));
    Arc::new(Login { user: user.into(), password, database: Some(database.into()), ..Login::default() })
}

/// A database of the server.
pub(crate) fn postgres(server: &Postgres, database: &str) -> Database {
    let login = login(Postgres::USER, Postgres::PASSWORD, database);
    Database {
        engine: Engine::PostgreSql,
        place: DatabaseLocation::Server { peer: peer(server.port()), login },
    }
}

/// The database of the server, by its socket.
pub(crate) fn mariadb(server: &MariaDb) -> Database {
    let login = login(MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
    let peer = Peer::of(Endpoint::Unix(server.socket()), None);
    Database { engine: Engine::MySql, place: DatabaseLocation::Server { peer, login } }
}

/// A database file.
pub(crate) fn sqlite(path: PathBuf) -> Database {
    Database { engine: Engine::Sqlite, place: DatabaseLocation::File(path) }
}

/// Plans and runs a load.
pub(crate) fn prepare(
    name: &str,
    options: &Options,
    database: &Database,
    observer: &impl Observer,
) -> Result<Loaded, Error> {
    run(&plan(name, options, database), database, observer)
}

/// Plan of a workload.
pub(crate) fn plan(name: &str, options: &Options, database: &Database) -> Plan {
    Plan::new(workload::find(name).unwrap(), database.engine, options).unwrap()
}

/// Records progress, and requests a stop after a number of rows.
#[derive(Debug, Default)]
pub(crate) struct StoppingObserver {
    rows: AtomicU64,
    stop_after: Option<u64>,
    kill_after: Option<(u64, u32)>,
}

impl StoppingObserver {
    /// An observer that requests a stop.
    pub(crate) fn until(rows: u64) -> Self {
        Self { stop_after: Some(rows), ..Self::default() }
    }

    /// An observer that kills a server's process without requesting a stop.
    pub(crate) fn killing_server(pid: u32, after_rows: u64) -> Self {
        Self { kill_after: Some((after_rows, pid)), ..Self::default() }
    }

    /// Largest number of rows that was reported.
    pub(crate) fn most(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}

impl Observer for StoppingObserver {
    fn rows(&self, rows: u64, rows_all: u64) {
        assert!(rows <= rows_all);
        let before = self.rows.fetch_max(rows, Ordering::Relaxed);
        if let Some((after, pid)) = self.kill_after
            && (before + 1..=rows).contains(&after)
        {
            assert!(Command::new("kill").arg("-QUIT").arg(pid.to_string()).status().unwrap().success());
        }
    }

    fn should_stop(&self) -> bool {
        self.stop_after.is_some_and(|rows| self.most() >= rows)
    }
}
