//! Transactions on SQLite as conversations with a system in this process.

use std::sync::Arc;

use script::Deck;
use sql::{Engine, Settings, Sql, Step};
use wire::{
    Closing, Conversation, Embedded, Greeting, Interrupt, Next, PeerFault, Progress, Refusal, Script, Stage,
};

use crate::database::Database;
use crate::session::Session;

/// The transactions of a load on SQLite.
#[derive(Debug)]
pub struct Sqlite(Sql<Session>);

/// Transactions on a database file.
///
/// # Errors
/// As [`Sql::new`].
pub fn sqlite(deck: Deck, steps: &[Step], settings: Settings, database: Database) -> Result<Sqlite, String> {
    let database = Arc::new(database);
    let open = move |_| Session::new(database.clone());
    Sql::new(deck, steps, settings, Engine::Sqlite, open).map(Sqlite)
}

impl Script for Sqlite {
    type Talk = Talk;

    fn open(&self, number: u32) -> Talk {
        Talk(self.0.open(number))
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        self.0.needs(step, variable)
    }

    fn looks_through(&self, step: u16) -> bool {
        self.0.looks_through(step)
    }
}

/// One client's transactions on SQLite.
#[derive(Debug)]
pub struct Talk(sql::Talk<Session>);

impl Embedded for Talk {
    fn perform(&mut self) -> Result<Progress, PeerFault> {
        self.0.received(&[])
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let handle = self.0.session().interrupt()?;
        Some(Box::new(move || handle.interrupt()))
    }
}

impl Conversation for Talk {
    fn set(&mut self, variable: u16, value: &[u8]) {
        self.0.set(variable, value);
    }

    fn greet(&mut self) -> Greeting {
        self.0.greet()
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        self.0.greeted(bytes)
    }

    fn secured(&mut self) -> Greeting {
        self.0.secured()
    }

    fn begin(&mut self, step: u16) -> Next {
        self.0.begin(step)
    }

    fn go_on(&mut self) -> Next {
        self.0.go_on()
    }

    fn outgoing(&self) -> &[u8] {
        self.0.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        self.0.received(bytes)
    }

    fn peer_closed(&mut self) -> Closing {
        self.0.peer_closed()
    }

    fn stage(&self) -> Stage {
        self.0.stage()
    }

    fn part(&self) -> Option<u16> {
        self.0.part()
    }

    fn explain(&self, refusal: Refusal) -> String {
        self.0.explain(refusal)
    }

    fn farewell(&self) -> &[u8] {
        self.0.farewell()
    }

    fn forget(&mut self) {
        self.0.forget();
    }
}
