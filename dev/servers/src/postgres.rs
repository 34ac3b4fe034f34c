//! PostgreSQL server for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::account::Account;
use crate::folder::Folder;
use crate::missing::Missing;
use crate::server::{self, Server};
use crate::{Tls, program, url};

const PACKAGE: &str = "postgresql";

/// Authentication of clients, over TCP and over the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// No authentication.
    #[default]
    Trust,
    /// SCRAM-SHA-256.
    Scram,
    /// MD5. Passwords are also stored as MD5 hashes.
    Md5,
    /// Clear-text password.
    Password,
}

/// Configuration of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresSettings {
    /// Authentication of clients.
    pub auth: Auth,
    /// Additional settings as in `postgresql.conf`, by name. They override those of this crate.
    pub settings: Vec<(String, String)>,
    /// True if commits wait for the disk. Committed data survives a crash of the server process in any case.
    pub is_durable: bool,
    /// Core that the server is pinned to. `None` for any core.
    pub core: Option<u32>,
    /// Certificate for clients that request TLS. `None` for no TLS.
    pub tls: Option<Tls>,
}

impl PostgresSettings {
    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }
}

/// Server with an empty database [`Postgres::DATABASE`]. Dropping it stops the server and removes its data.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    port: u16,
    core: Option<u32>,
    // Last field, because a server needs its folder until its end.
    folder: Folder,
}

impl Postgres {
    /// User with all privileges.
    pub const USER: &str = "postgres";
    /// Password of [`Self::USER`].
    pub const PASSWORD: &str = "only for tests";
    /// Name of an empty database.
    pub const DATABASE: &str = "postgres";

    /// Initializes a data folder, starts the server, and waits until it responds.
    ///
    /// # Errors
    ///
    /// If PostgreSQL is not installed, or does not start.
    pub fn start(settings: &PostgresSettings) -> Result<Self, Missing> {
        let folder = Folder::new("postgres", account())?;
        create(&folder, settings)?;
        let (server, port) =
            server::retry_with_free_port(|port| Ok((run(&folder, port, settings.core)?, port)))?;
        Ok(Self { server, port, core: settings.core, folder })
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the folder of the Unix socket, for clients that accept a folder instead of a host. It also contains data and log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    /// Returns the process ID of the server.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Returns the URL `postgres://user:password@127.0.0.1:port/postgres`.
    pub fn url(&self, user: &str, password: Option<&str>) -> String {
        let credentials = url::credentials(user, password);
        format!("postgres://{credentials}@127.0.0.1:{}/{}", self.port, Self::DATABASE)
    }

    /// Returns the URL with the user that has all privileges.
    pub fn admin_url(&self) -> String {
        self.url(Self::USER, Some(Self::PASSWORD))
    }

    /// Returns the complete log of the server.
    pub fn log(&self) -> String {
        server::log(self.folder.path())
    }

    /// Runs SQL with psql as the user with all privileges. Returns its rows, with `|` between fields.
    ///
    /// # Errors
    ///
    /// If psql is not installed, or the server rejects the SQL.
    pub fn sql(&self, text: &str) -> Result<String, Missing> {
        let mut psql = self.client("psql", "postgresql-client")?;
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text]);
        program::output(&psql)
    }

    /// Returns a command for a client program such as psql or pgbench, with environment variables that point it to the server.
    ///
    /// # Errors
    ///
    /// If the program is not installed.
    pub fn client(&self, name: &'static str, package: &'static str) -> Result<Command, Missing> {
        let beside = program::newest_postgres().map(|folder| folder.join(name)).filter(|file| file.is_file());
        let mut command = Command::new(match beside {
            Some(file) => file,
            None => program::find(name, package)?,
        });
        command.env("PGHOST", "127.0.0.1").env("PGPORT", self.port.to_string());
        command.env("PGUSER", Self::USER).env("PGPASSWORD", Self::PASSWORD).env("PGDATABASE", Self::DATABASE);
        command.env("PGSSLMODE", "prefer").env("LC_ALL", "C");
        Ok(command)
    }

    /// Stops the server immediately and restarts it, like `pg_ctl restart -m immediate`. All connections break, and the server
    /// recovers from its log.
    ///
    /// # Errors
    ///
    /// If the server does not start again.
    pub fn restart_immediate(&mut self) -> Result<(), Missing> {
        self.server.end(Signal::QUIT);
        self.server = run(&self.folder, self.port, self.core)?;
        Ok(())
    }

    /// Shuts the server down, and removes its folder.
    pub fn stop(mut self) {
        self.server.end(Signal::INT);
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Not SIGKILL, which would leave shared memory behind.
        self.server.end(Signal::QUIT);
    }
}

fn account() -> Option<Account> {
    Account::for_server("postgres")
}

fn find(name: &'static str) -> Result<PathBuf, Missing> {
    let usual = program::newest_postgres().map(|folder| folder.join(name)).filter(|file| file.is_file());
    usual.map_or_else(|| program::find(name, PACKAGE), Ok)
}

fn data(folder: &Folder) -> PathBuf {
    folder.path().join("data")
}

fn create(folder: &Folder, settings: &PostgresSettings) -> Result<(), Missing> {
    let password = folder.write("password", Postgres::PASSWORD)?;
    let kept_as = if settings.auth == Auth::Md5 { "md5" } else { "scram-sha-256" };
    let mut initdb = program::command(&find("initdb")?, account(), None, "KILL")?;
    initdb.args([
        "--no-sync",
        "--locale=C",
        "--encoding=UTF8",
        "--auth",
        kept_as,
        "--username",
        Postgres::USER,
    ]);
    initdb.arg("--pgdata").arg(data(folder)).arg("--pwfile").arg(password);
    program::output(&initdb)?;
    let method = match settings.auth {
        Auth::Trust => "trust",
        Auth::Scram => "scram-sha-256",
        Auth::Md5 => "md5",
        Auth::Password => "password",
    };
    let hosts = ["local all all", "host all all 127.0.0.1/32", "host all all ::1/128"];
    let hosts: String = hosts.iter().map(|host| format!("{host} {method}\n")).collect();
    folder.write("data/pg_hba.conf", &hosts)?;
    if let Some(tls) = &settings.tls {
        folder.write("certificate.pem", &tls.certificate_pem)?;
        folder.write("key.pem", &tls.key_pem)?;
    }
    let mut lines = configuration(folder, settings);
    lines.extend(settings.settings.iter().cloned());
    let text: String = lines.iter().map(|(name, value)| format!("{name} = {}\n", quoted(value))).collect();
    folder.write("data/postgresql.auto.conf", &text)?;
    Ok(())
}

fn configuration(folder: &Folder, settings: &PostgresSettings) -> Vec<(String, String)> {
    let here = folder.path().display().to_string();
    let durable = if settings.is_durable { "on" } else { "off" };
    let mut lines = vec![
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("unix_socket_directories", here.clone()),
        ("fsync", durable.into()),
        ("full_page_writes", durable.into()),
        ("log_destination", "stderr".into()),
        ("logging_collector", "off".into()),
        ("log_timezone", "UTC".into()),
    ];
    if settings.tls.is_some() {
        lines.push(("ssl", "on".into()));
        lines.push(("ssl_cert_file", format!("{here}/certificate.pem")));
        lines.push(("ssl_key_file", format!("{here}/key.pem")));
    }
    lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn run(folder: &Folder, port: u16, core: Option<u32>) -> Result<Server, Missing> {
    let mut command = program::command(&find("postgres")?, account(), core, "QUIT")?;
    command.arg("-D").arg(data(folder)).arg("-p").arg(port.to_string());
    let state = data(folder).join("postmaster.pid");
    Server::start(command, &server::log_path(folder.path()), |pid, _| {
        let lines = fs::read_to_string(&state).unwrap_or_default();
        let mut lines = lines.lines();
        lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|state| state.trim() == "ready")
    })
}
