//! MariaDB.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::account::Account;
use crate::folder::Folder;
use crate::missing::Missing;
use crate::server::{self, Server};
use crate::{Tls, program, url};

const PACKAGE: &str = "mariadb-server";

/// How a server is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaDbSettings {
    /// Further settings, by name, as in the options of `mariadbd`; they win over those of this crate.
    pub settings: Vec<(String, String)>,
    /// Whether commits wait for the disk. What is committed outlives the server's process in any case.
    pub is_durable: bool,
    /// The only core that the server may run on.
    pub core: Option<u32>,
    /// What it shows to clients that ask for TLS.
    pub tls: Option<Tls>,
}

impl MariaDbSettings {
    /// With one setting more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }
}

/// A server with an empty database [`MariaDb::DATABASE`]. Dropped, it is gone without a trace.
#[derive(Debug)]
pub struct MariaDb {
    server: Server,
    port: u16,
    settings: MariaDbSettings,
    // Last: a server needs its folder until its end.
    folder: Folder,
}

impl MariaDb {
    /// Who may do everything, from anywhere.
    pub const USER: &str = "tenbin";
    /// That user's password.
    pub const PASSWORD: &str = "only for tests";
    /// A database with nothing in it.
    pub const DATABASE: &str = "tenbin";

    /// Creates a server's data, starts it, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When MariaDB is not installed, or does not start.
    pub fn start(settings: &MariaDbSettings) -> Result<Self, Missing> {
        let folder = Folder::new("mariadb", account())?;
        create(&folder, settings)?;
        let (server, port) = server::on_a_free_port(|port| Ok((run(&folder, port, settings)?, port)))?;
        Ok(Self { server, port, settings: settings.clone(), folder })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the server: data, log and socket are in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        socket(&self.folder)
    }

    /// The process number of the server.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// `mysql://user:password@127.0.0.1:port/tenbin`.
    pub fn url(&self, user: &str, password: Option<&str>) -> String {
        let credentials = url::credentials(user, password);
        format!("mysql://{credentials}@127.0.0.1:{}/{}", self.port, Self::DATABASE)
    }

    /// The URL of the user who may do everything.
    pub fn own_url(&self) -> String {
        self.url(Self::USER, Some(Self::PASSWORD))
    }

    /// Everything that the server has logged.
    pub fn log(&self) -> String {
        server::log(self.folder.path())
    }

    /// Has SQL run by the client `mariadb` as the user who may do everything; its rows, with tabs between fields.
    ///
    /// # Errors
    ///
    /// When the client is not installed, or the server refuses.
    pub fn sql(&self, text: &str) -> Result<String, Missing> {
        let mut client = Command::new(program::find("mariadb", "mariadb-client")?);
        client.args(["--no-defaults", "--batch", "--skip-column-names", "--user", Self::USER, "--socket"]);
        client.arg(self.socket()).args(["--execute", text, Self::DATABASE]).env("MYSQL_PWD", Self::PASSWORD);
        program::output(&client)
    }

    /// Ends the server without ceremony, and starts it again: every connection breaks, and it recovers from its log.
    ///
    /// # Errors
    ///
    /// When it does not start again.
    pub fn restart_immediate(&mut self) -> Result<(), Missing> {
        self.server.end(Signal::KILL);
        self.server = run(&self.folder, self.port, &self.settings)?;
        Ok(())
    }

    /// Ends the server in good order, and removes its folder.
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
    // A server that starts removes the temporary files of others in its folder for them.
    install.env("TMPDIR", folder.path());
    program::output(&install)?;
    let (user, password, database) = (MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
    // Each start runs it, so it must stand being run again. One statement a line.
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
