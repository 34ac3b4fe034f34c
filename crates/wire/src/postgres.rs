//! The frontend/backend protocol 3.0 of PostgreSQL, the client's side.
//!
//! ```text
//!   greet() ─► [TLS?] ─► start-up ─► [log-in] ─► ReadyForQuery ─► Done
//!
//!   query():    Q          ─► (T D* C | C | I | E)+ Z
//!   execute():  [P D] B E  ─► [1 t (T|n)] 2 D* (C | I | E)     sync(): S ─► Z
//! ```
//!
//! A notice, a notification, or a parameter status may arrive at any time. A queue holds the expected messages, one entry each. An
//! error removes all entries up to the next `Z`.

mod entry;
mod fault;
mod framing;
mod kept;
mod outgoing;
mod reading;
mod report;
mod rows;
mod samples;
mod session;
mod settings;

pub use session::Session;
pub use settings::SETTINGS_KEPT;

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::conversation::Conversation as _;
use crate::protocol::{Compile, Open, Protocol, Scheme};
use crate::sql::FixedQuery;

/// Default port.
pub const PORT: u16 = 5432;

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "postgres",
    sentence: "PostgreSQL's frontend/backend protocol 3.0 over TCP, TLS or a Unix socket.",
    schemes: &[
        Scheme { name: "postgres", port: PORT, is_secure: false },
        Scheme { name: "postgresql", port: PORT, is_secure: false },
    ],
    alpn: &[],
    compile: Compile::Transactions(|login, _, nonce| Box::new(Session::new(login, nonce))),
    open: Open::Conversation(|| {
        let mut single = FixedQuery::new(Session::new(Arc::default(), [0; 18]), "SELECT 1", ());
        single.begin(0);
        Box::new(single)
    }),
    samples: samples::all,
};
