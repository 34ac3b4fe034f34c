//! `tenbin URL`: one load, now.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use plan::{Draft, Played};
use runner::{Made, PlannedRun, RunError, Runner, Stopper, Tools};
use store::{Store, Verdict};

use crate::commands::sql::SqlFlags;
use crate::commands::{StoreFlag, listed};
use crate::destination::ResultFlags;
use crate::exit::{BadArguments, Exit};
use crate::live_line::LiveLine;
use crate::{output, seed, signals};

/// The flags of one load. Values are checked all at once, by the plan.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct LoadFlags {
    /// What to load: http://HOST[:PORT]/PATH, https://…, postgres://USER@HOST/DATABASE, mysql://…, or sqlite:PATH. What a
    /// postgres:// URL leaves out is taken from PGHOST, PGUSER and the like. A password is best left out, since others see the
    /// arguments of a program: put it into PGPASSWORD, ~/.pgpass or MYSQL_PWD.
    url: Option<String>,

    /// Connections; in a closed load each is a user [default: 50].
    #[arg(
        short = 'c',
        long = "connections",
        visible_alias = "users",
        value_name = "N",
        help_heading = "Load"
    )]
    connections: Option<String>,
    /// How long, warm-up excluded [default: 10s, unless -n or --stages is given].
    #[arg(short, long, value_name = "TIME", help_heading = "Load")]
    duration: Option<String>,
    /// Requests, or transactions, in all; with -d, whichever comes first.
    #[arg(short = 'n', long, value_name = "N", help_heading = "Load")]
    requests: Option<String>,
    /// Load before the measurement, kept out of the result.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    warm_up: Option<String>,
    /// While it is not steady at the end of -d it goes on for as long again, so often at most.
    #[arg(long, value_name = "N", help_heading = "Load")]
    extend: Option<String>,

    /// Open load: so many requests a second over all connections, whatever the target does.
    #[arg(short = 'R', long, value_name = "RATE", help_heading = "Open load")]
    rate: Option<String>,
    /// Grow from this rate to -R over the duration.
    #[arg(long, value_name = "RATE", help_heading = "Open load")]
    ramp_from: Option<String>,
    /// Rates one after the other: TIME:RATE,TIME:RATE such as 10s:100/s,30s:500/s.
    #[arg(long, value_name = "LIST", help_heading = "Open load")]
    stages: Option<String>,
    /// How instants are spaced: even or poisson [default: even].
    #[arg(long, value_name = "KIND", help_heading = "Open load")]
    arrivals: Option<String>,
    /// Count requests as not sent that could not start this long after their instant [default: send them late].
    #[arg(long, value_name = "TIME", help_heading = "Open load")]
    shed_after: Option<String>,

    /// Pause of a user between reply and next request: 100ms, 50ms..150ms or exp:100ms.
    #[arg(long, value_name = "TIME", help_heading = "Closed load")]
    think: Option<String>,
    /// Each user starts at most one request in this time.
    #[arg(long, value_name = "TIME", help_heading = "Closed load")]
    pacing: Option<String>,
    /// Users come in evenly over this time.
    #[arg(long, value_name = "TIME", help_heading = "Closed load")]
    ramp_up: Option<String>,
    /// No more requests a second than this, over all users.
    #[arg(long, value_name = "RATE", help_heading = "Closed load")]
    throughput: Option<String>,

    /// Request method [default: GET, or POST with a body].
    #[arg(short, long, value_name = "METHOD", help_heading = "Request")]
    method: Option<String>,
    /// Request header, "Name: value"; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "HEADER", help_heading = "Request")]
    headers: Vec<String>,
    /// Request body.
    #[arg(short, long, value_name = "TEXT", help_heading = "Request")]
    body: Option<String>,
    /// Request body from a file.
    #[arg(long, value_name = "PATH", help_heading = "Request")]
    body_file: Option<PathBuf>,
    /// A new connection for each request or transaction.
    #[arg(long, visible_alias = "reconnect", help_heading = "Request")]
    no_keepalive: bool,
    /// Total time for one request, connecting included [default: 10s; 1h for transactions with -n and without -d].
    #[arg(long, value_name = "TIME", help_heading = "Request")]
    timeout: Option<String>,
    /// Time for a connection, TLS included [default: as --timeout, or 10s].
    #[arg(long, value_name = "TIME", help_heading = "Request")]
    connect_timeout: Option<String>,
    /// Connect to this Unix socket; the URL still gives host and path.
    #[arg(long, value_name = "PATH", help_heading = "Request")]
    unix_socket: Option<PathBuf>,
    /// Accept any TLS certificate; stamped on the result.
    #[arg(short = 'k', long, help_heading = "Request")]
    insecure: bool,
    /// Trust the authorities and certificates in this PEM file instead of the system's authorities.
    #[arg(long, value_name = "PATH", help_heading = "Request")]
    cacert: Option<PathBuf>,

    /// Accepted statuses: 200,201 or 2xx or 200-299 [default: 200-399].
    #[arg(long, value_name = "LIST", help_heading = "Checks")]
    expect_status: Option<String>,
    /// The body must contain this; may be repeated.
    #[arg(long, value_name = "TEXT", help_heading = "Checks")]
    expect_body: Vec<String>,
    /// The body must match this regular expression; may be repeated.
    #[arg(long, value_name = "REGEX", help_heading = "Checks")]
    expect_body_regex: Vec<String>,
    /// This header must be there, "Name" or "Name: part of value"; may be repeated.
    #[arg(long, value_name = "HEADER", help_heading = "Checks")]
    expect_header: Vec<String>,
    /// Size of the body: 1024 or 1KiB..2KiB.
    #[arg(long, value_name = "SIZE", help_heading = "Checks")]
    expect_size: Option<String>,

    #[command(flatten)]
    sql: SqlFlags,

    /// Load threads [default: one for each core].
    #[arg(long, value_name = "N", help_heading = "Generator")]
    threads: Option<String>,
    /// Keep the threads on cores of their own: "auto", or a list such as 1,2.
    #[arg(long, value_name = "CORES", num_args = 0..=1, default_missing_value = "auto", require_equals = true, help_heading = "Generator")]
    pin: Option<String>,
    /// Seed of every draw: the same seed gives the same arrivals and values [default: a new one for each run].
    #[arg(long, value_name = "N", help_heading = "Generator")]
    seed: Option<String>,

    #[command(flatten)]
    results: ResultFlags,
    /// Keep up to this many single requests of each second, drawn at random, for jtl.
    #[arg(long, value_name = "N", help_heading = "Results")]
    log_requests: Option<String>,
    #[command(flatten)]
    store: StoreFlag,
}

/// Checks, loads, keeps, reports.
pub(crate) fn run(mut flags: LoadFlags, played: Vec<Played>) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    let store_path = flags.store.path();
    if destination.format.name == "jtl" && flags.log_requests.is_none() {
        let what =
            "--format jtl: it lists single requests, and none are kept\n  way out: add --log-requests 1000";
        return Err(BadArguments(format!("{what}\n1 fault; nothing was sent")).into());
    }
    let is_drawn = flags.seed.is_none();
    flags.seed.get_or_insert_with(|| seed::fresh().to_string());
    let plan =
        draft(flags, played).check().map_err(|faults| BadArguments(listed(&faults, "nothing was sent")))?;
    let stopper = Stopper::default();
    let heard = signals::listen(stopper.clone())?;
    let prepared = runner::prepare(&plan).map_err(anyhow::Error::from).context("nothing was sent")?;
    let store = Store::open(&store_path)?;
    let hearing = heard.clone();
    let mut line = LiveLine::new(move || hearing.run_begins());
    let runner = Runner { store: &store, tools: Tools::local(&stopper) };
    let planned = PlannedRun::of_load(&plan, Some(prepared));
    let Made { run, ending, .. } = runner.make(planned, &mut line).inspect_err(show_what_is_left)?;

    let shown = store.load(&run).map_err(Into::into).and_then(|run| {
        let runs = [run];
        destination.write(true, &|format, options, out| report::write(format, &runs, options, out))
    });
    // Where it is kept matters most when it could not be shown.
    let again = if is_drawn { format!("; --seed {} repeats its draws", plan.seed) } else { String::new() };
    output::remark(&format!("kept as {run} in {}{again}", store.path().display()));
    if let Err(error) = shown
        && !output::is_broken_pipe(&error)
    {
        return Err(error);
    }
    Ok(match (heard.exit(), ending.verdict) {
        (Some(exit), _) => exit,
        (None, Verdict::Invalid) => Exit::Invalid,
        (None, Verdict::Complete) => Exit::Ok,
        (None, Verdict::Degraded) => Exit::Degraded,
        (None, Verdict::Partial | Verdict::Aborted) => Exit::CouldNotRun,
    })
}

/// The store is gone, but what was counted is not.
pub(crate) fn show_what_is_left(error: &RunError) {
    if let RunError::Storage { counts: Some(counts), .. } = error {
        output::remark(&format!(
            "counted until the store failed and ended the run: planned {}, sent {}, not sent {}; ok {}, rejected {}, failed {}, \
             timed out {}, unfinished {}",
            counts.planned,
            counts.sent,
            counts.not_sent,
            counts.ok,
            counts.rejected,
            counts.failed,
            counts.timed_out,
            counts.unfinished
        ));
    }
}

fn draft(flags: LoadFlags, played: Vec<Played>) -> Draft {
    let sql = flags.sql;
    Draft {
        played,
        defines: sql.defines,
        query_mode: sql.query_mode,
        scale: sql.scale,
        tables: sql.tables,
        table_size: sql.table_size,
        range_size: sql.range_size,
        rows: sql.rows,
        style: sql.style,
        distribution: sql.distribution,
        max_tries: sql.max_tries,
        latency_limit: sql.latency_limit,
        pool: sql.pool,
        no_room_check: sql.no_room_check,
        url: flags.url.unwrap_or_default(),
        unix_socket: flags.unix_socket,
        method: flags.method,
        headers: flags.headers,
        body: flags.body,
        body_file: flags.body_file,
        connections: flags.connections,
        requests: flags.requests,
        duration: flags.duration,
        warm_up: flags.warm_up,
        extend: flags.extend,
        rate: flags.rate,
        ramp_from: flags.ramp_from,
        stages: flags.stages,
        arrivals: flags.arrivals,
        shed_after: flags.shed_after,
        think: flags.think,
        pacing: flags.pacing,
        ramp_up: flags.ramp_up,
        throughput: flags.throughput,
        timeout: flags.timeout,
        connect_timeout: flags.connect_timeout,
        no_keepalive: flags.no_keepalive,
        expect_status: flags.expect_status,
        expect_body: flags.expect_body,
        expect_body_regex: flags.expect_body_regex,
        expect_header: flags.expect_header,
        expect_size: flags.expect_size,
        insecure: flags.insecure,
        cacert: flags.cacert,
        threads: flags.threads,
        pin: flags.pin,
        seed: flags.seed,
        log_requests: flags.log_requests,
    }
}
