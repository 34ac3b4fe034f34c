//! Client side of the MySQL and MariaDB client/server protocol.
//!
//! ```text
//!   log_in ── greeting, plugin, scramble, rsa        who logs in
//!   session ─ work                                   commands in flight and waiting
//!          ├─ incoming, outgoing ── fields           packets
//!          └─ reading ── columns, row, server_error  results of a reply
//! ```

mod capabilities;
mod columns;
mod fault;
mod fields;
mod greeting;
mod incoming;
mod log_in;
mod nonce;
mod outgoing;
mod plugin;
mod reading;
mod row;
mod rsa;
mod samples;
mod scramble;
mod server_error;
mod session;
mod work;

pub use session::Session;

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::conversation::Conversation;
use crate::protocol::{Compile, Open, Protocol, Scheme};
use crate::sql::{FixedQuery, Login};

/// Default port.
pub const PORT: u16 = 3306;

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "mysql",
    sentence: "MySQL and MariaDB over TCP, TLS or a Unix socket.",
    schemes: &[
        Scheme { name: "mysql", port: PORT, is_secure: false },
        Scheme { name: "mariadb", port: PORT, is_secure: false },
    ],
    alpn: &[],
    compile: Compile::Transactions(|login, is_private, nonce| {
        let session = Session::new(login, nonce);
        Box::new(if is_private { session.on_private_transport() } else { session })
    }),
    open: Open::Conversation(|| {
        let mut conversation =
            FixedQuery::new(Session::new(Arc::new(Login::default()), [0; 18]), "SELECT 1", ());
        conversation.begin(0);
        Box::new(conversation)
    }),
    samples: samples::all,
};
