//! MySQL and MariaDB: rows go by INSERTs of many rows.

use std::sync::Arc;

use engine::{Endpoint, Peer};
use wire::mysql::Session;
use wire::sql::Login;

use super::connection::Connection;
use super::{Answer, Client};
use crate::error::Error;
use crate::marks;
use crate::plan::Chunk;
use crate::rows::InsertRows;
use crate::tables::Table;

/// One connection.
pub(super) struct MySql {
    connection: Connection<Session>,
}

impl MySql {
    pub(super) fn open(peer: &Peer, login: &Arc<Login>, number: u32) -> Result<Self, Error> {
        let session = Session::new(Arc::clone(login));
        let is_private = matches!(peer.endpoints[number as usize % peer.endpoints.len()], Endpoint::Unix(_));
        let session = if is_private { session.on_private_transport() } else { session };
        Ok(Self { connection: Connection::open(peer, session, number)? })
    }
}

impl Client for MySql {
    fn query(&mut self, sql: &str, doing: &str) -> Result<Answer, Error> {
        self.connection.ask(sql, doing)
    }

    fn load(
        &mut self,
        table: &Table,
        chunk: &Chunk,
        written: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Error> {
        let doing = &format!("filling {}", table.name);
        self.query("BEGIN", doing)?;
        let mut insert = InsertRows::new(&table.name);
        let step = table.content.rows_at_once();
        for from in chunk.rows.clone().step_by(step as usize) {
            let rows = from..chunk.rows.end.min(from + step);
            let count = rows.end - rows.start;
            insert.clear();
            table.content.write(rows, &mut insert);
            self.connection.run(insert.bytes(), &mut (), doing)?;
            if !written(count) {
                return Ok(false);
            }
        }
        self.query(&marks::mark(&chunk.mark), doing)?;
        self.query("COMMIT", doing)?;
        Ok(true)
    }
}
