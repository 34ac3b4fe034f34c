//! What the engine does with peers of every kind: every test of this folder that needs no process of its own, in one program.

mod connecting;
mod course;
mod deadlines;
mod embedded;
mod endings;
mod four_protocols;
mod framing;
mod greetings;
mod load_shapes;
mod multiplexing;
mod once;
mod open_load;
mod open_scenarios;
mod parts;
mod pool;
mod raw_tcp;
mod redirects;
mod replies_out_of_turn;
mod scenario_connections;
mod scenarios;
mod shares;
mod signals;
mod stopping;
mod support;
mod tls;
mod two_peers;
