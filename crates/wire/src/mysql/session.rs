//! One connection: from the greeting of the server to the rows of its replies.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::blame::PeerFault;
use crate::conversation::Greeting;
use crate::sql::{self, Heard, Login, Rows, Said, Statement, Transaction};

/// One client's side of one connection to MySQL or MariaDB.
#[derive(Debug)]
pub struct Session {
    login: Arc<Login>,
    is_private: bool,
    outgoing: Vec<u8>,
    server_version: String,
    connection_id: u32,
    said: Said,
    local_infile: Option<Vec<u8>>,
}

impl Session {
    /// A session that will log in as this.
    pub fn new(login: Arc<Login>) -> Self {
        Self {
            login,
            is_private: false,
            outgoing: Vec::new(),
            server_version: String::new(),
            connection_id: 0,
            said: Said::default(),
            local_infile: None,
        }
    }

    /// The same, over a transport on which nobody else listens, such as a Unix socket: the password may go out in the clear.
    #[must_use]
    pub fn on_private_transport(self) -> Self {
        Self { is_private: true, ..self }
    }

    /// The server's version in its own words, such as `8.0.36` or `10.11.14-MariaDB-0+deb12u2`; empty before its greeting.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Whether the server is MariaDB rather than MySQL.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// The number under which the server knows the connection, as `KILL QUERY` takes it.
    pub fn connection_id(&self) -> u32 {
        self.connection_id
    }

    /// The content of the file that the next `LOAD DATA LOCAL INFILE` asks for. Before the log-in it also tells the server that
    /// such statements may be sent; without it they are refused.
    pub fn local_infile(&mut self, content: Vec<u8>) {
        self.local_infile = Some(content);
    }
}

impl sql::Session for Session {
    fn greet(&mut self) -> Greeting {
        Greeting::Await
    }

    fn greeted(&mut self, _bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let sentence = "the protocol of MySQL is not spoken yet";
        let seen = None;
        let said = Some(self.login.user.clone());
        Err(PeerFault { class: PeerFault::LOGIN_REFUSED, code: 0, sentence, seen, said })
    }

    fn secured(&mut self) -> Greeting {
        self.is_private = true;
        Greeting::Await
    }

    fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    fn clear(&mut self) {
        self.outgoing.clear();
    }

    fn query(&mut self, text: &[u8]) {
        self.outgoing.extend_from_slice(text);
    }

    fn execute(&mut self, statement: Statement<'_>, _values: &mut dyn Iterator<Item = Option<&[u8]>>) {
        self.outgoing.extend_from_slice(statement.text.as_bytes());
    }

    fn sync(&mut self) {}

    fn received(&mut self, bytes: &[u8], _rows: &mut dyn Rows) -> Result<(usize, Heard), PeerFault> {
        Ok((bytes.len(), Heard::NeedMore))
    }

    fn transaction(&self) -> Transaction {
        Transaction::Idle
    }

    fn said(&self) -> &Said {
        &self.said
    }

    fn has_begun_reply(&self) -> bool {
        false
    }

    fn farewell(&self) -> &[u8] {
        &[]
    }

    fn cancel(&self) -> Option<[u8; 16]> {
        None
    }

    fn forget(&mut self) {
        self.outgoing.clear();
        self.connection_id = 0;
        self.local_infile = None;
        self.is_private = false;
    }
}
