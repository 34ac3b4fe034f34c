//! `tenbin replay LOG --to URL`: replays recorded traffic, with its own timing and one connection per session.

mod pair;
mod report;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use ::replay::play::Outcomes;
use ::replay::{
    FORMATS, Format, Layout, Log, LogError, ReadError, Recorded, Selection, SharedSessions, Storage, Traffic,
};
use ::report::{JSON, TERMINAL};
use clap::{Args, ValueEnum};
use plan::{CONNECTIONS_DEFAULT, Draft, LoadSpec, Plan, ScriptSource};
use runner::Stopper;

use crate::arguments::{url_argument, with_scheme, with_seconds};
use crate::commands::origin::LabelFlag;
use crate::commands::{PublicFlag, StoreFlag, list_faults};
use crate::exit::{BadArguments, Exit};
use crate::{output, signals};

/// Bytes that are read from the log at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// Arguments of `tenbin replay`.
#[derive(Args, Debug)]
#[command(after_long_help = "docs/replay.md has an example for each database and web server.")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ReplayFlags {
    /// Log of PostgreSQL, MySQL, MariaDB, nginx, Apache, or Caddy; - reads standard input
    log: PathBuf,
    /// System to send the traffic to: postgres://USER@HOST/DATABASE, mysql://…, or http://HOST:PORT; repeat it to compare systems
    #[arg(long, value_name = "URL", required_unless_present = "dry_run", value_parser = url_argument)]
    to: Vec<String>,
    /// With several --to: replays on each system [default: as many as a difference of a single statement needs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    blocks: Option<u32>,
    /// With several --to: hash the rows of statements, so that other contents are seen
    #[arg(long)]
    checksum: bool,
    /// Divide pauses and times by this factor, such as 2x; max removes all pauses
    #[arg(long, value_name = "FACTOR", default_value = "1x")]
    speed: String,
    /// Report what the log contains, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave out statements that may write
    #[arg(long, value_name = "KIND")]
    only: Option<Kind>,
    /// Replay statements that may write
    #[arg(long)]
    allow_writes: bool,
    /// Replay only the sessions of this user; repeatable
    #[arg(long, value_name = "NAME")]
    user: Vec<String>,
    /// Replay only the sessions of this database, or requests to this host; repeatable
    #[arg(long, value_name = "NAME")]
    database: Vec<String>,
    /// Leave out what is before this time: 2026-01-02 03:04:05, or 10min after the first entry
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Leave out what is later than this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[arg(long, value_name = "NAME", help = formats())]
    log_format: Option<String>,
    /// log_line_prefix of PostgreSQL, if it is none of the usual ones: '%m [%p] %u@%d '
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    log_prefix: Option<String>,
    /// Maximum connections; sessions share them, and transactions stay whole [default: one per session, 50 for requests]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: Option<u32>,
    /// Maximum time of a statement or request; its connection is then closed
    #[arg(long, value_name = "TIME", default_value = "60s")]
    timeout: String,
    /// End waits for a lock that exceed the longest statement of the log by this time
    #[arg(long, value_name = "TIME", default_value = "10s")]
    lock_window: String,
    /// Threads of the generator
    #[arg(long, value_name = "N", hide_short_help = true)]
    threads: Option<u64>,
    #[command(flatten)]
    public: PublicFlag,
    /// terminal or json
    #[arg(long, value_name = "NAME", default_value = TERMINAL.name, help_heading = "Results")]
    format: String,
    #[command(flatten)]
    label: LabelFlag,
    #[command(flatten)]
    store: StoreFlag,
}

/// Statements that are replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Statements that cannot write
    Reads,
}

fn formats() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!(
        "Format of the log: {}, or an access-log format with $ or % [default: by its lines]",
        names.join(", ")
    )
}

/// Reads the log, replays it, and reports.
pub(crate) fn run(flags: &ReplayFlags) -> anyhow::Result<Exit> {
    let is_json = match flags.format.as_str() {
        name if name == JSON.name => true,
        name if name == TERMINAL.name => false,
        name => {
            return bad_arguments(format!(
                "--format: {name:?} is not a format of this command\n  help: write terminal or json"
            ));
        }
    };
    let speed = speed(&flags.speed)?;
    if flags.to.len() > 1 && !flags.dry_run {
        return pair::run(flags);
    }
    if let Some(flag) = [("--blocks", flags.blocks.is_some()), ("--checksum", flags.checksum)]
        .into_iter()
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    {
        return bad_arguments(format!(
            "{flag} is for a comparison of systems\n  help: name several with --to"
        ));
    }
    let recorded = read(flags)?;
    if flags.dry_run {
        let text = report::log_report(&recorded, speed);
        let json = report::log_json(&recorded, speed);
        print(is_json, &text, &json)?;
        return Ok(Exit::Ok);
    }
    check(flags, &recorded)?;
    replay_once(flags, recorded, speed, is_json)
}

/// Replays the log on one system, and reports.
fn replay_once(
    flags: &ReplayFlags,
    mut recorded: Recorded,
    speed: Option<f64>,
    is_json: bool,
) -> anyhow::Result<Exit> {
    let shared = share(flags, &mut recorded);
    recorded.trace.speed_up(speed);
    let plan = plan(flags, &recorded)?;
    let lock_window_ns = time_ns("--lock-window", &flags.lock_window)?;
    let Recorded { survey, trace, format, .. } = &mut recorded;
    let traffic = runner::Traffic {
        kind: format.traffic,
        trace: Arc::new(std::mem::take(trace)),
        outcomes: Arc::new(Outcomes::new(survey.fingerprints.len())),
        fingerprints: survey.fingerprints.iter().map(|fingerprint| fingerprint.text.clone()).collect(),
        is_read_only: !flags.allow_writes,
        is_unpaced: speed.is_none(),
        lock_wait_max_ns: Some(survey.duration_max_ns.saturating_add(lock_window_ns)),
    };
    let stopper = Stopper::default();
    let received_signals = signals::listen(stopper.clone())?;
    let public = flags.public.generator()?.public;
    received_signals.mark_run_started();
    let (all, mut shown) = (traffic.trace.len(), 0);
    let replayed = runner::replay(&plan, &traffic, &public, &stopper, &mut |ended| {
        if output::is_watched() && ended * 100 / (all as u64).max(1) != shown {
            shown = ended * 100 / (all as u64).max(1);
            output::show_line(&format!("{shown} % of {all} statements replayed"));
        }
    });
    if output::is_watched() {
        output::erase_line();
    }
    let replayed = match replayed {
        Ok(replayed) => replayed,
        Err(runner::ReplayError::Refused(refusal)) => return Err(refusal.into()),
        Err(error) => return Err(error.into()),
    };
    let done = report::FinishedReplay {
        recorded: &recorded,
        traffic: &traffic,
        replayed: &replayed,
        to: &shown_url(&plan),
        speed,
        shared,
    };
    print(is_json, &done.text(), &done.json())?;
    Ok(received_signals.exit().unwrap_or(Exit::Ok))
}

/// Puts the sessions of a database on the connections of the flag. `None` if each has its own.
fn share(flags: &ReplayFlags, recorded: &mut Recorded) -> Option<SharedSessions> {
    let asked = flags.connections.filter(|_| recorded.format.traffic.has_sessions)?;
    let fingerprints = recorded.survey.fingerprints.iter().map(|counted| counted.text.as_str());
    recorded.trace.share(asked as usize, fingerprints)
}

fn print(is_json: bool, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
    if is_json { output::data(&format!("{json:#}\n")) } else { output::lines(text) }
}

fn bad_arguments<T>(message: String) -> anyhow::Result<T> {
    Err(BadArguments(message).into())
}

/// Factor of `--speed`; `None` for no pauses.
fn speed(text: &str) -> anyhow::Result<Option<f64>> {
    ::replay::speed(text)
        .or_else(|what| bad_arguments(format!("--speed: {what}\n  help: write 2x, 0.5x, or max")))
}

/// Duration of a flag, in nanoseconds.
fn time_ns(flag: &str, text: &str) -> anyhow::Result<u64> {
    let duration_ns = plan::units::duration_ns(&with_seconds(text));
    duration_ns.or_else(|what| bad_arguments(format!("{flag}: {what}\n  help: write a time such as 60s")))
}

/// Time of `--since` or `--until`.
fn moment(flag: &str, text: Option<&String>) -> anyhow::Result<Option<::replay::Moment>> {
    let moment = text.map(|text| plan::log_moment(&with_seconds(text))).transpose();
    moment.or_else(|(what, help)| bad_arguments(format!("{flag}: {what}\n  help: {help}")))
}

/// Reads the whole log.
fn read(flags: &ReplayFlags) -> anyhow::Result<Recorded> {
    let name = flags.log.display().to_string();
    let input: Box<dyn BufRead> = if name == "-" {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, io::stdin()))
    } else {
        let file = File::open(&flags.log)
            .map_err(|error| BadArguments(format!("{name}: {error}\n  help: name a log file")))?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return bad_arguments(format!("{name}: it is a folder\n  help: name a log file"));
        }
        Box::new(BufReader::with_capacity(BUFFER_BYTES, file))
    };
    let (format, layout) = layout(flags)?;
    let explained = |error: LogError| match error {
        LogError::Io(error) => anyhow::Error::new(error).context(name.clone()),
        LogError::Layout(what) => BadArguments(format!("{name}: {what}")).into(),
        LogError::Unknown => {
            let help = "name the format with --log-format, or write your log_line_prefix with --log-prefix";
            BadArguments(format!("{name}: no line has a known log format\n  help: {help}")).into()
        }
    };
    let log = Log::open(input, format, &layout).map_err(explained)?;
    let selection = Selection {
        users: flags.user.clone(),
        databases: flags.database.clone(),
        only_reads: flags.only == Some(Kind::Reads),
        since: moment("--since", flags.since.as_ref())?,
        until: moment("--until", flags.until.as_ref())?,
    };
    let keep = match (flags.dry_run, flags.connections) {
        (true, _) => Storage::Nothing,
        // Sessions that share connections are put in order as a whole.
        (false, Some(_)) => Storage::InMemory,
        (false, None) => Storage::InFile,
    };
    match Recorded::read(log, &selection, keep) {
        Ok(recorded) => Ok(recorded),
        Err(ReadError::File(error)) => bad_arguments(format!(
            "{name}: its statements cannot be kept in a temporary file: {error}\n  help: set TMPDIR to a folder with room for them"
        )),
        Err(ReadError::Io(error)) => Err(explained(LogError::Io(error))),
        Err(ReadError::TooLarge) => bad_arguments(format!(
            "{name}: its statements take more than {} GiB of memory\n  help: take a part of it, or filter it with --user, --database, or --only reads",
            ::replay::KEPT_BYTES_MAX >> 30
        )),
    }
}

/// Format and layout that the flags give.
fn layout(flags: &ReplayFlags) -> anyhow::Result<(Option<&'static Format>, Layout)> {
    let layout = Layout { prefix: flags.log_prefix.clone(), pattern: None };
    match flags.log_format.as_deref() {
        None if flags.log_prefix.is_some() => Ok((Format::prefixed(), layout)),
        None => Ok((None, layout)),
        Some(pattern) if pattern.contains(['$', '%']) => {
            Ok((Format::named("access"), Layout { pattern: Some(pattern.to_owned()), ..layout }))
        }
        Some(name) => match Format::named(name) {
            Some(format) => Ok((Some(format), layout)),
            None => bad_arguments(format!(
                "--log-format: {name:?} is no format\n  help: see the list in tenbin replay --help"
            )),
        },
    }
}

/// Checks what needs a decision of the user before anything is sent.
fn check(flags: &ReplayFlags, recorded: &Recorded) -> anyhow::Result<()> {
    let Recorded { survey, trace, .. } = recorded;
    let name = flags.log.display();
    if trace.is_empty() {
        let help = "see what was skipped: add --dry-run";
        return bad_arguments(format!("{name}: nothing in it can be replayed\n  help: {help}"));
    }
    if survey.writes > 0 && !flags.allow_writes {
        return bad_arguments(format!(
            "{name}: {} of {} statements may write\n  help: leave them out with --only reads, or replay them with --allow-writes on a copy of the data",
            survey.writes, survey.statements
        ));
    }
    if survey.databases.len() > 1 && flags.database.is_empty() && survey.traffic().has_sessions {
        let names: Vec<String> = survey.databases.keys().map(|name| format!("{name:?}")).collect();
        return bad_arguments(format!(
            "{name}: it has statements of {} databases, and --to names one: {}\n  help: choose with --database NAME; repeat it to send several to one",
            names.len(),
            names.join(", ")
        ));
    }
    Ok(())
}

/// Plan of the system, from which connections and limits are taken.
fn plan(flags: &ReplayFlags, recorded: &Recorded) -> anyhow::Result<Plan> {
    let url = with_scheme(flags.to.first().map_or("", String::as_str)).into_owned();
    let traffic = recorded.format.traffic;
    check_scheme(&url, traffic)?;
    let of_requests = flags.connections.map_or(CONNECTIONS_DEFAULT, u64::from);
    let users = if traffic.has_sessions { recorded.trace.slot_count() as u64 } else { of_requests };
    let timeout_ns = time_ns("--timeout", &flags.timeout)?;
    let stand_in = |text: &str| ScriptSource::Text { name: "replay".to_owned(), text: text.into() };
    let draft = Draft {
        url: plan::url_with_step(&url),
        load: LoadSpec {
            users: Some(users.into()),
            timeout_ns: Some(timeout_ns.into()),
            threads: flags.threads.map(Into::into),
            ..LoadSpec::default()
        },
        played: traffic.stand_in.map(stand_in).into_iter().collect(),
        ..Draft::default()
    };
    let plan = draft.check().map_err(|faults| BadArguments(list_faults(&faults, "nothing was sent")))?;
    output::register_secrets(&plan.secrets);
    match plan.endpoints[0].load.accepts_traffic(traffic) {
        true => Ok(plan),
        false => bad_arguments(format!(
            "--to: the log has {}\n  help: name a server of it with --to",
            traffic.entries_of_server
        )),
    }
}

/// Checks that the system takes the traffic of the log, as far as its URL shows.
fn check_scheme(url: &str, traffic: &Traffic) -> anyhow::Result<()> {
    match (traffic.fits_scheme)(url.split_once("://").map_or("", |(scheme, _)| scheme)) {
        true => Ok(()),
        false => bad_arguments(format!(
            "--to: the log has {}\n  help: {}",
            traffic.entries, traffic.help_for_flags
        )),
    }
}

/// Name of the system in reports, without user and password.
fn shown_url(plan: &Plan) -> String {
    let endpoint = &plan.endpoints[0];
    match endpoint.load.database() {
        Some(database) => database.shown.clone(),
        None => endpoint.peers().first().map_or(String::new(), |peer| format!("{}:{}", peer.host, peer.port)),
    }
}
