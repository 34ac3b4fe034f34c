//! mongo-java-server for tests: speaks the MongoDB protocol, and keeps documents in memory.

use std::env;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};

use crate::folder::Folder;
use crate::missing::Missing;
use crate::program;
use crate::server::{self, Server};

const PROGRAM: &str = "mongo-java-server";

/// Running mongo-java-server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Mongo {
    _server: Server,
    port: u16,
    // Last field, because a server needs its folder until its end.
    _folder: Folder,
}

impl Mongo {
    /// Starts a server, and waits until it responds.
    ///
    /// # Errors
    ///
    /// If mongo-java-server is not installed, or does not start.
    pub fn start() -> Result<Self, Missing> {
        let folder = Folder::new("mongo", None)?;
        let program = installed()?;
        let (server, port) = server::retry_with_free_port(|port| Ok((run(&program, &folder, port)?, port)))?;
        Ok(Self { _server: server, port, _folder: folder })
    }

    /// Returns the URL `mongodb://127.0.0.1:port/test`.
    pub fn url(&self) -> String {
        format!("mongodb://127.0.0.1:{}/test", self.port)
    }
}

/// Finds the program in `PATH`, or in the tools folder next to the folder of this program.
fn installed() -> Result<PathBuf, Missing> {
    let path = env::var_os("PATH").unwrap_or_default();
    let own = env::current_exe().unwrap_or_default();
    let tools = own.ancestors().map(|folder| folder.join("tools/bin"));
    let mut files = env::split_paths(&path).chain(tools).map(|folder| folder.join(PROGRAM));
    let missing = || {
        let advice = "it is not on this machine: install it with `scripts/mongo-java-server.sh target/tools`";
        Missing::failed(PROGRAM, advice)
    };
    files.find(|file| file.is_file()).ok_or_else(missing)
}

fn run(program: &Path, folder: &Folder, port: u16) -> Result<Server, Missing> {
    let mut command = program::command(program, None, None, "KILL")?;
    command.arg(port.to_string());
    Server::start(command, &server::log_path(folder.path()), |_, _| {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    })
}
