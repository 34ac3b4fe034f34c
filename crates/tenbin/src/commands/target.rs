//! `tenbin target`: the built-in server with known response times.

mod pace;
mod raw;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use plan::{Fault, units};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use target::{Hang, RateLimit, Running, Settings, Stall, StartError, ThreadPool, Trouble, TroubleKind};

use crate::arguments::with_seconds;
use crate::commands::flag_reader::{Reader, share};
use crate::commands::list_faults;
use crate::exit::{BadArguments, Exit};
use crate::output;

/// Default maximum of threads in a growing pool.
const THREAD_LIMIT: usize = 1024;

/// Default duration of a trouble, in ns.
const TROUBLE_DEFAULT_NS: u64 = 1_000_000_000;

/// What happens when all threads of a worker wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThreadPoolKind {
    /// Further requests wait
    Fixed,
    /// Each waiting request gets another thread
    Growing,
}

/// What SIGUSR1 does to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TroubleName {
    /// It answers nothing
    Stall,
    /// It resets every connection, once
    Reset,
    /// It answers everything with 503
    Reject,
    /// Holds take three times longer, and then less and less
    Slow,
}

/// The parameters of the target.
#[derive(Args, Debug)]
pub(crate) struct TargetFlags {
    /// Loopback address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// Also listen on this Unix socket
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<PathBuf>,
    /// Independent event loops
    #[arg(long, value_name = "N", default_value = "1")]
    workers: String,
    /// Concurrent requests per worker; 0 is unlimited
    #[arg(long, value_name = "N", default_value = "0")]
    threads: String,
    /// What a worker does when all its --threads are busy
    #[arg(long, value_name = "KIND", value_enum, default_value_t = ThreadPoolKind::Fixed)]
    thread_pool: ThreadPoolKind,
    /// Maximum threads of a growing pool [default: 1024]
    #[arg(long, value_name = "N")]
    thread_limit: Option<String>,
    /// Maximum queued requests per worker, then 503 [default: unlimited]
    #[arg(long, value_name = "N")]
    queue: Option<String>,
    /// Length of the listen queue
    #[arg(long, value_name = "N", default_value = "1024")]
    backlog: String,
    /// Pause after each accepted connection
    #[arg(long, value_name = "TIME")]
    accept_delay: Option<String>,
    /// Database connections of /insert
    #[arg(long, value_name = "N", default_value = "4")]
    pool: String,
    /// SQLite file of /insert [default: a temporary file]
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// Maximum requests per second, then 429 [default: unlimited]
    #[arg(long, value_name = "RATE")]
    rate_limit: Option<String>,
    /// Burst that --rate-limit allows [default: 1]
    #[arg(long, value_name = "N")]
    burst: Option<String>,
    /// Stop answering for this long
    #[arg(long, value_name = "TIME")]
    stall: Option<String>,
    /// Time from the first request to the stall
    #[arg(long, value_name = "TIME")]
    stall_after: Option<String>,
    /// Period of the stall [default: once]
    #[arg(long, value_name = "TIME")]
    stall_every: Option<String>,
    /// What SIGUSR1 causes, each time it comes
    #[arg(long, value_name = "KIND", value_enum)]
    trouble: Option<TroubleName>,
    /// How long that lasts [default: 1s]
    #[arg(long, value_name = "TIME")]
    trouble_for: Option<String>,
    /// Time from the first request after which nothing is answered; connections stay open
    #[arg(long, value_name = "TIME")]
    hang_after: Option<String>,
    /// Share of connections that --hang-after affects [default: 100%]
    #[arg(long, value_name = "SHARE")]
    hang_share: Option<String>,
    #[command(flatten)]
    pace: pace::PaceFlags,
    /// Close a connection after N requests
    #[arg(long, value_name = "N")]
    requests_per_connection: Option<String>,
    /// Close a connection that is idle for this long
    #[arg(long, value_name = "TIME")]
    idle: Option<String>,
    /// Serve raw TCP instead of HTTP: echo, sink=1MiB, or source=1MiB
    ///
    /// `sink` answers a byte for so many bytes, `source` so many bytes for a line.
    #[arg(long, value_name = "MODE")]
    raw: Option<String>,
    /// Seed of random hold times
    #[arg(long, value_name = "N", default_value = "1")]
    seed: String,
}

/// Serves until it is interrupted.
pub(crate) fn run(flags: TargetFlags) -> anyhow::Result<Exit> {
    if let Some(mode) = &flags.raw {
        return raw::run(mode, &flags.listen);
    }
    let settings =
        settings(flags).map_err(|faults| BadArguments(list_faults(&faults, "nothing was started")))?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGUSR1])?;
    let running = target::start(settings).map_err(|error| match error {
        StartError::Faults(_) => anyhow::Error::from(BadArguments(error.to_string())),
        other => other.into(),
    })?;
    output::lines(&format!(
        "listening on http://{}/ (lists the endpoints); Ctrl-C ends it\n",
        running.address()
    ))?;
    let (sender, received) = mpsc::channel();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // At the second signal, the receiver is already dropped, so the send fails harmlessly.
            let _ = sender.send(signal);
        }
    })?;
    while let Ok(SIGUSR1) = received.recv() {
        running.begin_trouble();
    }
    let farewell = farewell(&running);
    running.stop();
    output::remark(&farewell);
    Ok(Exit::Ok)
}

fn farewell(running: &Running) -> String {
    let counters = running.counters();
    let [_, ok, _, client, server] = counters.replies;
    format!(
        "{} requests on {} connections: {ok} answered 2xx, {client} 4xx, {server} 5xx ({} for a full queue, {} over the rate limit)",
        counters.requests, counters.accepted, counters.queue_rejected, counters.rate_limited
    )
}

fn settings(flags: TargetFlags) -> Result<Settings, Vec<Fault>> {
    let mut reader = Reader::default();
    let duration = |text: &str| units::duration_ns(&with_seconds(text));
    let rate_limit = reader.read("--rate-limit", flags.rate_limit.as_deref(), units::rate_per_s);
    let burst = reader.read("--burst", flags.burst.as_deref(), units::count);
    if burst.is_some() && rate_limit.is_none() {
        reader.fault("--burst", "it needs --rate-limit".to_owned());
    }
    let stall = reader.read("--stall", flags.stall.as_deref(), duration).map(Duration::from_nanos);
    let first =
        reader.read("--stall-after", flags.stall_after.as_deref(), duration).map(Duration::from_nanos);
    let every =
        reader.read("--stall-every", flags.stall_every.as_deref(), duration).map(Duration::from_nanos);
    if stall.is_none() && (first.is_some() || every.is_some()) {
        reader.fault("--stall-after and --stall-every", "they need --stall".to_owned());
    }
    let trouble = trouble(flags.trouble, flags.trouble_for.as_deref(), &mut reader);
    let hang_after =
        reader.read("--hang-after", flags.hang_after.as_deref(), duration).map(Duration::from_nanos);
    let hang_share = reader.read("--hang-share", flags.hang_share.as_deref(), share);
    if hang_after.is_none() && hang_share.is_some() {
        reader.fault("--hang-share", "it needs --hang-after".to_owned());
    }
    let thread_limit = reader.read("--thread-limit", flags.thread_limit.as_deref(), units::count);
    if thread_limit.is_some() && flags.thread_pool == ThreadPoolKind::Fixed {
        reader.fault("--thread-limit", "it needs --thread-pool growing".to_owned());
    }
    let thread_pool = match flags.thread_pool {
        ThreadPoolKind::Fixed => ThreadPool::Fixed,
        ThreadPoolKind::Growing => {
            ThreadPool::Growing { limit: thread_limit.map_or(THREAD_LIMIT, |limit| limit as usize) }
        }
    };
    let number = |reader: &mut Reader, place, text: &str| {
        reader.read(place, Some(text), units::count).unwrap_or(0) as usize
    };
    let settings = Settings {
        address: reader.read("--listen", Some(&flags.listen), address).unwrap_or(Settings::default().address),
        unix: flags.unix_socket,
        workers: number(&mut reader, "--workers", &flags.workers),
        threads: number(&mut reader, "--threads", &flags.threads),
        thread_pool,
        queue: reader.read("--queue", flags.queue.as_deref(), units::count).map(|count| count as usize),
        backlog: number(&mut reader, "--backlog", &flags.backlog) as u32,
        accept_delay: reader
            .read("--accept-delay", flags.accept_delay.as_deref(), duration)
            .map_or(Duration::ZERO, Duration::from_nanos),
        pool: number(&mut reader, "--pool", &flags.pool),
        database: flags.database,
        rate_limit: rate_limit
            .map(|per_s| RateLimit { per_s, burst: burst.unwrap_or(1).min(u32::MAX.into()) as u32 }),
        stall: stall.map(|lasting| Stall { first: first.unwrap_or_default(), lasting, every }),
        trouble,
        hang: hang_after.map(|after| Hang { after, share: hang_share.unwrap_or(1.0) }),
        pace: flags.pace.read(&mut reader),
        requests_per_connection: reader.read(
            "--requests-per-connection",
            flags.requests_per_connection.as_deref(),
            units::count,
        ),
        idle: reader.read("--idle", flags.idle.as_deref(), duration).map(Duration::from_nanos),
        seed: reader.read("--seed", Some(&flags.seed), units::count).unwrap_or(1),
        log_service: false,
    };
    if reader.0.is_empty() { Ok(settings) } else { Err(reader.0) }
}

fn trouble(kind: Option<TroubleName>, lasting: Option<&str>, reader: &mut Reader) -> Option<Trouble> {
    let lasting = reader.read("--trouble-for", lasting, |text| units::duration_ns(&with_seconds(text)));
    let Some(kind) = kind else {
        if lasting.is_some() {
            reader.fault("--trouble-for", "it needs --trouble".to_owned());
        }
        return None;
    };
    let kind = match kind {
        TroubleName::Stall => TroubleKind::Stall,
        TroubleName::Reset => TroubleKind::Reset,
        TroubleName::Reject => TroubleKind::Reject,
        TroubleName::Slow => TroubleKind::Slow,
    };
    Some(Trouble { kind, lasting: Duration::from_nanos(lasting.unwrap_or(TROUBLE_DEFAULT_NS)) })
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text:?} is not an address\n  help: write 127.0.0.1:8080"))
}
