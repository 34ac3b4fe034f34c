//! MariaDB server for tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::account::Account;
use crate::folder::Folder;
use crate::missing::Missing;
use crate::server::{self, Server};
use crate::{Tls, program, url};

const PACKAGE: &str = "mariadb-server";

/// Configuration of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaDbSettings {
    /// Additional options of `mariadbd` by name. They override those of this crate.
    pub settings: Vec<(String, String)>,
    /// True if commits wait for the disk. Committed data survives a crash of the server process in any case.
    pub is_durable: bool,
    /// Core that the server is pinned to. `None` for any core.
    pub core: Option<u32>,
    /// Certificate for clients that request TLS. `None` for no TLS.
    pub tls: Option<Tls>,
}

impl MariaDbSettings {
    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }
}

/// Server with an empty database [`MariaDb::DATABASE`]. Dropping it stops the server and removes its data.
#[derive(Debug)]
pub struct MariaDb {
    server: Server,
    port: u16,
    settings: MariaDbSettings,
    // Last field, because a server needs its folder until its end.
    folder: Folder,
}

impl MariaDb {
    /// User with all privileges, from any host.
    pub const USER: &str = "tenbin";
    /// Password of [`Self::USER`].
    pub const PASSWORD: &str = "only for tests";
    /// Name of an empty database.
    pub const DATABASE: &str = "tenbin";

    /// Initializes a data folder, starts the server, and waits until it responds.
    ///
    /// # Errors
    ///
    /// If MariaDB is not installed, or does not start.
    pub fn start(settings: &MariaDbSettings) -> Result<Self, Missing> {
        let folder = Folder::new("mariadb", account())?;
        create(&folder, settings)?;
        let (server, port) = server::retry_with_free_port(|port| Ok((run(&folder, port, settings)?, port)))?;
        Ok(Self { server, port, settings: settings.clone(), folder })
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the folder with data, log, and socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        socket(&self.folder)
    }

    /// Returns the process ID of the server.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Returns the URL `mysql://user:password@127.0.0.1:port/tenbin`.
    pub fn url(&self, user: &str, password: Option<&str>) -> String {
        let credentials = url::credentials(user, password);
        format!("mysql://{credentials}@127.0.0.1:{}/{}", self.port, Self::DATABASE)
    }

    /// Returns the URL with the user that has all privileges.
    pub fn admin_url(&self) -> String {
        self.url(Self::USER, Some(Self::PASSWORD))
    }

    /// Returns the complete log of the server.
    pub fn log(&self) -> String {
        server::log(self.folder.path())
    }

    /// Runs SQL with the client `mariadb` as the user with all privileges. Returns its rows, with tabs between fields.
    ///
    /// # Errors
    ///
    /// If the client is not installed, or the server rejects the SQL.
    pub fn sql(&self, text: &str) -> Result<String, Missing> {
        let mut client = Command::new(program::find("mariadb", "mariadb-client")?);
        client.args(["--no-defaults", "--batch", "--skip-column-names", "--user", Self::USER, "--socket"]);
        client.arg(self.socket()).args(["--execute", text, Self::DATABASE]).env("MYSQL_PWD", Self::PASSWORD);
        program::output(&client)
    }

    /// Kills and restarts the server. All connections break, and the server recovers from its log.
    ///
    /// # Errors
    ///
    /// If the server does not start again.
    pub fn restart_immediate(&mut self) -> Result<(), Missing> {
        self.server.end(Signal::KILL);
        self.server = run(&self.folder, self.port, &self.settings)?;
        Ok(())
    }

    /// Shuts the server down, and removes its folder.
    pub fn stop(mut self) {
        self.server.end(Signal::TERM);
    }
}

fn account() -> Option<Account> {
    Account::for_server("mysql")
}

fn data(folder: &Folder) -> PathBuf {
    folder.path().join("data")
}

fn socket(folder: &Folder) -> PathBuf {
    folder.path().join("socket")
}

fn option(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

fn create(folder: &Folder, settings: &MariaDbSettings) -> Result<(), Missing> {
    let mut install =
        program::command(&program::find("mariadb-install-db", PACKAGE)?, account(), None, "KILL")?;
    install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
    install.args(["--skip-name-resolve", &option("datadir", data(folder).display())]);
    // A starting server removes other servers' temporary files in a shared folder.
    install.env("TMPDIR", folder.path());
    program::output(&install)?;
    let (user, password, database) = (MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
    // The file runs at each start, so it must be idempotent. One statement per line.
    let first = format!(
        "CREATE DATABASE IF NOT EXISTS {database};\n\
         CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{user}'@'%' WITH GRANT OPTION;\n"
    );
    folder.write("first.sql", &first)?;
    if let Some(tls) = &settings.tls {
        folder.write("certificate.pem", &tls.certificate_pem)?;
        folder.write("key.pem", &tls.key_pem)?;
    }
    Ok(())
}

fn run(folder: &Folder, port: u16, settings: &MariaDbSettings) -> Result<Server, Missing> {
    let here = folder.path();
    let mut command =
        program::command(&program::find("mariadbd", PACKAGE)?, account(), settings.core, "KILL")?;
    command.arg("--no-defaults").args([
        option("datadir", data(folder).display()),
        option("socket", socket(folder).display()),
        option("pid-file", here.join("pid").display()),
        option("init-file", here.join("first.sql").display()),
        option("tmpdir", here.display()),
        option("bind-address", "127.0.0.1"),
        option("port", port),
        option("innodb-buffer-pool-size", "64M"),
        "--skip-name-resolve".into(),
    ]);
    if !settings.is_durable {
        command.args([option("innodb-flush-log-at-trx-commit", 2), option("innodb-doublewrite", 0)]);
    }
    if settings.tls.is_some() {
        command.arg(option("ssl-cert", here.join("certificate.pem").display()));
        command.arg(option("ssl-key", here.join("key.pem").display()));
    }
    command.args(settings.settings.iter().map(|(name, value)| option(name, value)));
    Server::start(command, &server::log_path(here), |_, own| own.contains("ready for connections"))
}
