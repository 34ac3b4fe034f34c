//! `tenbin target --raw`: a raw TCP server.

use std::net::SocketAddr;

use plan::{Fault, units};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use target::{RawMode, RawServer};

use crate::commands::list_faults;
use crate::exit::{BadArguments, Exit};
use crate::output;

/// Serves until it is interrupted. The other flags of the target do not apply.
pub(super) fn run(mode: &str, listen: &str) -> anyhow::Result<Exit> {
    let mut faults = Vec::new();
    let mode = self::mode(mode).map_err(|fault| faults.push(fault)).ok();
    let address: Option<SocketAddr> = listen.parse().ok();
    if address.is_none() {
        let what = format!("{listen:?} is not an address");
        faults.push(Fault::new("--listen", what, "write it like 127.0.0.1:9000"));
    }
    let (Some(mode), Some(address)) = (mode, address) else {
        return Err(BadArguments(list_faults(&faults, "nothing was started")).into());
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let server = RawServer::start(address, mode).map_err(|error| {
        anyhow::anyhow!("cannot listen on {address}: {error}\n  help: choose another address")
    })?;
    output::lines(&format!("listening on tcp://{}; Ctrl-C ends it\n", server.address()))?;
    signals.forever().next();
    server.stop();
    Ok(Exit::Ok)
}

/// Reads a mode: `echo`, `sink=1MiB`, or `source=1MiB`.
fn mode(text: &str) -> Result<RawMode, Fault> {
    let wrong = |what: String| Fault::new("--raw", what, "write echo, sink=1MiB, or source=1MiB");
    let (name, size) = text.split_once('=').map_or((text, None), |(name, size)| (name, Some(size)));
    let bytes = size.map(units::size_bytes).transpose().map_err(wrong)?;
    match (name, bytes) {
        ("echo", None) => Ok(RawMode::Echo),
        ("sink", Some(bytes @ 1..)) => Ok(RawMode::Sink(bytes)),
        ("source", Some(bytes @ 1..)) => Ok(RawMode::Source(bytes)),
        _ => Err(wrong(format!("{text:?} is not a mode"))),
    }
}
