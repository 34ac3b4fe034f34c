//! `tenbin URL`: puts a load on a running server.

mod pair;
mod waiting;

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use judge::{Condition, endings};
use plan::{Draft, Fault, Field, LoadSpec, Plan, RunningSpec, ScriptSource};
use progress::{RunEvent, Stream};
use runner::{CompletedRun, PlannedRun, RunError, Runner, Stopper, Tools};
use store::Store;

use crate::arguments::{
    is_plan, is_server, named_url, stages_with_seconds, url_argument, with_scheme, with_seconds,
};
use crate::commands::baseline;
use crate::commands::command_mix::CommandMixFlags;
use crate::commands::completions::{plan_files, stored};
use crate::commands::expects::ExpectFlags;
use crate::commands::origin::LabelFlag;
use crate::commands::request::{RequestDescription, RequestFlags, TlsFlags};
use crate::commands::run::add_help;
use crate::commands::sql::SqlFlags;
use crate::commands::{PublicFlag, StoreFlag, list_faults};
use crate::destination::ResultFlags;
use crate::exit::{BadArguments, Exit};
use crate::live_line::LiveLine;
use crate::{curl, first_word, output, seed, signals};

use pair::ComparisonFlags;
use waiting::{prepared, wait};

/// The flags of one load. Values are checked all at once, by the plan. A flag that few need is left out of `-h`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct LoadFlags {
    /// http://HOST:PORT/PATH, https://…, postgres://USER@HOST/DATABASE, mysql://…, sqlite:PATH, or redis://HOST:PORT
    ///
    /// PostgreSQL also as in psql: 'host=HOST dbname=DATABASE user=USER'.
    ///
    /// What a postgres:// URL leaves out is taken from PGHOST, PGUSER, and the like. Other users of the machine can see the
    /// arguments of a program: put a password into PGPASSWORD, ~/.pgpass, or MYSQL_PWD. NAME=URL names the system in reports.
    #[arg(value_name = "URL", hide_short_help = true, value_parser = url_argument, add = ArgValueCompleter::new(plan_files))]
    url: Option<String>,
    /// Further running servers or databases: compares all in paired blocks, in random order
    ///
    /// NAME=URL gives one a name: express=localhost:4000 fastify=localhost:5000.
    #[arg(value_name = "URL_B", hide_short_help = true, value_parser = url_argument)]
    others: Vec<String>,

    /// Connections, or users of a closed load [default: 50]
    ///
    /// With -R and without -c, more connections are opened as they are needed.
    #[arg(
        short = 'c',
        long = "connections",
        visible_alias = "users",
        value_name = "N",
        help_heading = "Load"
    )]
    connections: Option<String>,
    /// How long to measure, after the warm-up [default: 10s]
    ///
    /// With -n, --stages, or --recorded there is no default.
    #[arg(short, long, value_name = "TIME", help_heading = "Load")]
    duration: Option<String>,
    /// Stop after N requests or transactions; with -d, whichever comes first
    #[arg(short = 'n', long, value_name = "N", help_heading = "Load")]
    requests: Option<String>,
    /// Open load: start this many requests per second, however slow the server is
    #[arg(short = 'R', long, value_name = "RATE", help_heading = "Load")]
    rate: Option<String>,
    /// Time before the measurement, left out of the result
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    warm_up: Option<String>,
    /// Extend the load by -d up to N times while the last part is not steady
    #[arg(long, value_name = "N", help_heading = "Load", hide_short_help = true)]
    extend: Option<String>,

    /// Grow from this rate to -R over the duration
    #[arg(long, value_name = "RATE", help_heading = "Open load", hide_short_help = true)]
    ramp_from: Option<String>,
    /// Successive target rates, TIME:RATE,TIME:RATE, such as 10s:100/s,30s:500/s
    #[arg(long, value_name = "LIST", help_heading = "Open load", hide_short_help = true)]
    stages: Option<String>,
    /// Start requests at the times in a CSV file: seconds in its first column, or in the column `at`
    #[arg(long, value_name = "FILE", help_heading = "Open load", hide_short_help = true)]
    recorded: Option<String>,
    #[arg(
        long,
        value_name = "KIND",
        help_heading = "Open load",
        hide_short_help = true,
        help = arrivals()
    )]
    arrivals: Option<String>,
    /// Count a request as not sent if it is this late; by default, it is sent late
    #[arg(long, value_name = "TIME", help_heading = "Open load", hide_short_help = true)]
    shed_after: Option<String>,

    /// Pause of a user between reply and next request: 100ms, 50ms..150ms, exp:100ms, or 18s+exp:12s
    #[arg(long, value_name = "TIME", help_heading = "Closed load", hide_short_help = true)]
    think: Option<String>,
    /// Minimum time from one request of a user to the next
    #[arg(long, value_name = "TIME", help_heading = "Closed load", hide_short_help = true)]
    pacing: Option<String>,
    /// Start the users one after another over this time
    #[arg(long, value_name = "TIME", help_heading = "Closed load", hide_short_help = true)]
    ramp_up: Option<String>,
    /// Maximum rate of all users together
    #[arg(long, value_name = "RATE", help_heading = "Closed load", hide_short_help = true)]
    throughput: Option<String>,

    #[command(flatten)]
    request: RequestFlags,
    /// Open a new connection for each request or transaction
    #[arg(long, visible_alias = "reconnect", help_heading = "Request", hide_short_help = true)]
    no_keepalive: bool,
    /// Time after which each connection is renewed, spread evenly over that time [default: connections are kept]
    #[arg(long, value_name = "TIME", help_heading = "Request", hide_short_help = true)]
    connection_lifetime: Option<String>,
    /// Send an idempotent request once more if the server closed the kept connection without having received it
    ///
    /// The second attempt goes over a new connection, and its time counts from the first. The report says how many requests were
    /// sent twice.
    #[arg(long, help_heading = "Request", hide_short_help = true)]
    retry_stale: bool,
    /// Maximum time of a request, connecting included [default: 10s]
    ///
    /// For transactions with -n and without -d, the default is 1h.
    #[arg(long, value_name = "TIME", help_heading = "Request", hide_short_help = true)]
    timeout: Option<String>,
    /// Maximum time of connecting, TLS included [default: as --timeout, or 10s]
    #[arg(long, value_name = "TIME", help_heading = "Request", hide_short_help = true)]
    connect_timeout: Option<String>,
    /// Connect to this Unix socket; host and path still come from the URL
    #[arg(long, value_name = "PATH", help_heading = "Request", hide_short_help = true)]
    unix_socket: Option<PathBuf>,
    /// Read this process and those below it as the system: a number, or a file with it
    ///
    /// By default, the system is the process that listens at the URL.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "container",
        help_heading = "Running system",
        hide_short_help = true
    )]
    pid: Option<String>,
    /// Read this container of Docker or Podman as the system: its name or ID
    #[arg(long, value_name = "NAME", help_heading = "Running system", hide_short_help = true)]
    container: Option<String>,
    /// Connect to these addresses in turn for the host and port of the URL; repeatable
    #[arg(
        long,
        value_name = "HOST:PORT:ADDRESS[,ADDRESS]",
        help_heading = "Request",
        hide_short_help = true
    )]
    resolve: Vec<String>,
    /// Wait up to this long for a server that is still starting
    #[arg(long, value_name = "TIME", help_heading = "Request", hide_short_help = true)]
    wait: Option<String>,
    #[command(flatten)]
    tls: TlsFlags,
    #[command(flatten)]
    expects: ExpectFlags,

    #[command(flatten)]
    command_mix: CommandMixFlags,
    #[command(flatten)]
    sql: SqlFlags,
    #[command(flatten)]
    comparison: ComparisonFlags,

    /// Threads of the load generator [default: half of the cores if the server is on this machine, else one per core]
    #[arg(long, value_name = "N", help_heading = "Generator", hide_short_help = true)]
    threads: Option<String>,
    /// Pin the threads to cores: "auto", or a list such as 1,2
    #[arg(
        long,
        value_name = "CORES",
        num_args = 0..=1,
        default_missing_value = "auto",
        require_equals = true,
        help_heading = "Generator",
        hide_short_help = true
    )]
    pin: Option<String>,
    /// Seed of all random draws; the same seed repeats arrivals and values [default: random]
    #[arg(long, value_name = "N", help_heading = "Generator", hide_short_help = true)]
    seed: Option<String>,

    /// Conditions such as 'p99<200ms, errors<1%'; exit code 3 if one fails
    ///
    /// Repeatable. docs/ci.md describes the grammar.
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    slo: Vec<String>,
    /// Stored run to compare with: a label, an exported file, or a name
    ///
    /// For conditions such as --slo 'throughput>=95% of baseline'. One run has no confidence interval: they are judged by the estimate.
    #[arg(long, value_name = "NAME", help_heading = "Results", hide_short_help = true, add = ArgValueCompleter::new(stored))]
    baseline: Option<String>,
    /// Sample with perf where the server spends CPU time, if it runs on this machine; docs/profile.md
    ///
    /// --profile=dwarf reads stacks of programs without frame pointers.
    #[arg(
        long,
        value_name = "STACKS",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true,
        help_heading = "Results",
        hide_short_help = true
    )]
    profile: Option<String>,
    #[command(flatten)]
    public: PublicFlag,

    #[command(flatten)]
    label: LabelFlag,
    #[command(flatten)]
    results: ResultFlags,
    /// Keep up to N single requests of each second, drawn at random; needed for jtl
    #[arg(long, value_name = "N", help_heading = "Results", hide_short_help = true)]
    log_requests: Option<String>,
    #[command(flatten)]
    store: StoreFlag,
}

/// Checks the flags, makes the load, and stores and reports the run.
pub(crate) fn run(mut flags: LoadFlags, played: Vec<ScriptSource>) -> anyhow::Result<Exit> {
    let system = flags.take_name();
    let misread_arguments = curl::misread_arguments(&flags.curl_values());
    if !misread_arguments.is_empty() {
        return Err(BadArguments(list_faults(&misread_arguments, "nothing was sent")).into());
    }
    flags.check_words()?;
    if !flags.others.is_empty() {
        return pair::run(&flags, &played);
    }
    flags.check_single_url()?;
    let destination = flags.results.check()?;
    let store_path = flags.store.path();
    if destination.format == report::REQUEST_LOG && flags.log_requests.is_none() {
        let what =
            "--format jtl: it lists single requests, and none are kept\n  help: add --log-requests 1000";
        return Err(BadArguments(format!("{what}\n1 error; nothing was sent")).into());
    }
    let conditions = conditions(&flags.slo)?;
    flags.check_baseline(&conditions)?;
    let wait = flags.wait.as_deref().map(wait).transpose()?;
    let is_drawn = flags.seed.is_none();
    flags.seed.get_or_insert_with(|| seed::random_seed().to_string());
    let (generator, label) = (flags.public.generator()?, flags.label.clone());
    let (named, store_flag) = (flags.baseline.clone(), flags.store.clone());
    let plan = checked(flags, system, played)
        .map_err(|faults| BadArguments(list_faults(&faults, "nothing was sent")))?;
    let baseline =
        named.map(|named| baseline::of_run(&plan, &conditions, &named, &store_flag)).transpose()?;
    baseline.iter().for_each(baseline::announce);
    let stopper = Stopper::default();
    let received_signals = signals::listen(stopper.clone())?;
    let prepared = prepared(&plan, &generator.public, wait)?;
    let store = Store::open(&store_path)?;
    let hearing = received_signals.clone();
    let stream = Stream::default();
    stream.listen(move |frame| match &frame.event {
        RunEvent::Began(_) => hearing.mark_run_started(),
        RunEvent::Remark(remark) => output::remark(remark),
        _ => {}
    });
    let line = LiveLine::show(&stream, String::new(), None);
    let runner = Runner { store: &store, tools: Tools { generator: &generator, ..Tools::local(&stopper) } };
    let planned = PlannedRun::of_load(&plan, Some(prepared)).ending_if_rejected();
    let planned = planned.with_conditions(conditions).with_baseline(baseline);
    let made = runner.make(planned, &stream);
    line.into_iter().for_each(LiveLine::close);
    let made = made.inspect_err(print_remaining_counts);
    let CompletedRun { run, ending, gates, .. } = made.map_err(|error| add_help(error, false))?;
    label.keep(run.as_str(), &store);
    let by_itself = endings::of_run(&ending, &gates);

    let shown = store.load(&run).map_err(Into::into).and_then(|run| {
        let runs = [run];
        destination.write(true, &|format, options, out| report::write(format, &runs, options, out))
    });
    // The name of the stored run matters most when its report could not be shown.
    let again = if is_drawn { format!("; --seed {} repeats its draws", plan.seed) } else { String::new() };
    output::remark(&format!("kept as {run} in {}{again}", store.path().display()));
    if let Err(error) = shown
        && !output::is_broken_pipe(&error)
    {
        return received_signals.exit_or_error(error);
    }
    Ok(received_signals.exit_or(by_itself))
}

/// Conditions of `--slo`.
fn conditions(texts: &[String]) -> Result<Vec<Condition>, BadArguments> {
    let lists = texts.iter().map(|text| Condition::parse_list_of_baseline(text));
    let conditions: Result<Vec<_>, _> = lists.collect();
    conditions.map(|lists| lists.concat()).map_err(|error| {
        BadArguments(list_faults(&[Fault::from_condition("--slo", &error)], "nothing was sent"))
    })
}

impl LoadFlags {
    /// Removes the name from a single URL that is written as `NAME=URL`, and returns it.
    fn take_name(&mut self) -> Option<String> {
        let (name, url) = named_url(self.url.as_deref().filter(|_| self.others.is_empty())?);
        // Any other argument with an equals sign stays whole, because its error message quotes it.
        let name = name.filter(|_| is_server(url) || plan::has_known_scheme(url))?.to_owned();
        self.url = Some(url.to_owned());
        Some(name)
    }

    /// Returns an error if a condition refers to a baseline and there is none, or the other way around.
    fn check_baseline(&self, conditions: &[Condition]) -> Result<(), BadArguments> {
        let of_baseline = conditions.iter().find(|condition| condition.of_baseline.is_some());
        let fault = match (&self.baseline, of_baseline) {
            (None, Some(condition)) => {
                let place = format!("--slo {:?}", condition.text);
                Fault::new(place, "there is no baseline", "add --baseline with a label, a file, or a run")
            }
            (Some(name), None) => {
                let help = "add one, such as --slo 'throughput>=95% of baseline'";
                Fault::new(format!("--baseline {name}"), "no condition compares with it", help)
            }
            _ => return Ok(()),
        };
        Err(BadArguments(list_faults(&[fault], "nothing was sent")))
    }

    /// Returns an error for a word among the URLs that is something else: a mistyped command, a file, or a plan after a URL.
    fn check_words(&self) -> Result<(), BadArguments> {
        let words: Vec<&String> = self.url.iter().chain(&self.others).collect();
        let fault = words.iter().enumerate().find_map(|(number, word)| {
            let (_, url) = named_url(word);
            let is_url = is_server(url) || plan::has_known_scheme(url) || url.is_empty();
            match is_plan(word.as_ref()) {
                _ if is_url => None,
                true if number == 0 => None,
                true => Some(Fault::new(
                    format!("{word:?}"),
                    "a plan and a URL do not go together",
                    format!("write tenbin {word}; `url` in the plan names a running server"),
                )),
                false => first_word::fault(word, &self.others[number.min(self.others.len())..]),
            }
        });
        fault.map_or(Ok(()), |fault| Err(BadArguments(list_faults(&[fault], "nothing was sent"))))
    }

    /// Returns an error for a plan with the flags of a load, and for comparison flags with a single URL.
    fn check_single_url(&self) -> Result<(), BadArguments> {
        let url = self.url.as_deref().unwrap_or_default();
        if is_plan(url.as_ref()) {
            let what = format!("{url} is a plan, and these are flags of a single load");
            return Err(BadArguments(format!(
                "{what}\n  help: write tenbin run {url}; tenbin run -h lists its flags"
            )));
        }
        match self.comparison.given() {
            None => Ok(()),
            Some(flag) => {
                let what = format!("{flag}: it compares two servers, and there is one URL");
                Err(BadArguments(format!("{what}\n  help: add the URL of a second server, or leave it out")))
            }
        }
    }
}

/// Prints the counts of a run whose store failed.
pub(crate) fn print_remaining_counts(error: &RunError) {
    if let RunError::Storage { counts: Some(counts), .. } = error {
        output::note(&format!(
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

fn arrivals() -> String {
    format!("Spacing of scheduled send times: {} [default: even]", plan::arrival_processes())
}

/// Builds the plan, or returns all errors in the flags.
fn checked(flags: LoadFlags, system: Option<String>, played: Vec<ScriptSource>) -> Result<Plan, Vec<Fault>> {
    let url = with_scheme(flags.url.as_deref().unwrap_or_default()).into_owned();
    let (described, mut faults) = match flags.request.read(&url) {
        Ok(described) => (described, Vec::new()),
        Err(faults) => (RequestDescription::default(), faults),
    };
    let note = described.note.clone();
    let draft = Draft { system, ..draft(flags, url, described, played) };
    match draft.check() {
        Ok(plan) if faults.is_empty() => {
            note.iter().for_each(|note| output::note(note));
            Ok(plan)
        }
        checked => {
            faults.extend(checked.err().unwrap_or_default());
            Err(faults)
        }
    }
}

fn draft(flags: LoadFlags, url: String, described: RequestDescription, played: Vec<ScriptSource>) -> Draft {
    Draft {
        load: spec(&flags),
        sql: flags.sql.spec(),
        expects: flags.expects.spec(),
        played,
        url,
        system: None,
        unix_socket: flags.unix_socket,
        running: flags.pid.map(RunningSpec::Pid).or(flags.container.map(RunningSpec::Container)),
        resolve: flags.resolve,
        headers: described.headers,
        body: described.body,
        method: described.method,
        body_file: described.body_file,
        tls: flags.tls.spec(),
        command_mix: flags.command_mix.spec(),
    }
}

fn spec(flags: &LoadFlags) -> LoadSpec {
    let mut spec = LoadSpec {
        keep_alive: flags.no_keepalive.then(|| false.into()),
        retry_stale: flags.retry_stale.then(|| true.into()),
        room_check: flags.sql.no_room_check.then(|| false.into()),
        ..LoadSpec::default()
    };
    for (field, text) in flags.load_fields() {
        spec.write(field, &text);
    }
    spec
}

impl LoadFlags {
    fn curl_values(&self) -> curl::CurlValues<'_> {
        curl::CurlValues {
            url: self.url.as_deref(),
            connections: self.connections.as_deref(),
            duration: self.duration.as_deref(),
            body: self.request.body(),
            method: self.request.method.as_deref(),
            has_type: self.request.has_header("content-type"),
            taken: [
                ("-L", self.sql.latency_limit.as_deref()),
                ("-s", self.sql.scale()),
                ("-f", self.sql.file()),
            ],
        }
    }

    /// Fields of the load that were given, with their values and units.
    fn load_fields(&self) -> Vec<(Field, String)> {
        // Each connection of a closed load is a user.
        let is_open = self.rate.is_some() || self.stages.is_some() || self.recorded.is_some();
        let times = [
            (Field::MEASURED, &self.duration),
            (Field::WARM_UP, &self.warm_up),
            (Field::SHED_AFTER, &self.shed_after),
            (Field::THINK, &self.think),
            (Field::PACING, &self.pacing),
            (Field::RAMP_UP, &self.ramp_up),
            (Field::TIMEOUT, &self.timeout),
            (Field::CONNECT_TIMEOUT, &self.connect_timeout),
            (Field::LATENCY_LIMIT, &self.sql.latency_limit),
            (Field::CONNECTION_LIFETIME, &self.connection_lifetime),
        ];
        let others = [
            (if is_open { Field::CONNECTIONS } else { Field::USERS }, &self.connections),
            (Field::REQUESTS, &self.requests),
            (Field::EXTEND, &self.extend),
            (Field::RATE, &self.rate),
            (Field::RECORDED, &self.recorded),
            (Field::RAMP_FROM, &self.ramp_from),
            (Field::ARRIVALS, &self.arrivals),
            (Field::THROUGHPUT, &self.throughput),
            (Field::POOL, &self.sql.pool),
            (Field::PIPELINE, &self.command_mix.pipeline),
            (Field::PROFILE, &self.profile),
            (Field::THREADS, &self.threads),
            (Field::PIN, &self.pin),
            (Field::SEED, &self.seed),
            (Field::LOG_REQUESTS, &self.log_requests),
        ];
        let times = times
            .iter()
            .filter_map(|(field, text)| Some((*field, with_seconds(text.as_deref()?).into_owned())));
        let others = others.iter().filter_map(|(field, text)| Some((*field, (*text).clone()?)));
        let stages = self.stages.as_deref().map(|text| (Field::STAGES, stages_with_seconds(text)));
        times.chain(others).chain(stages).collect()
    }
}
