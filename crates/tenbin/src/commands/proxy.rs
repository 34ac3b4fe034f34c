//! `tenbin proxy`: simulates the network to a distant client, or a slow dependency.

mod control;

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use plan::units;
use proxy::{
    BUFFER_BYTES, Counters, DELAY_MAX, Endpoint, Jitter, NewConnections, ProxyConfig, Reset, ResetAfter,
    Running, Settings, Spread, StartError,
};
use report::{JSON, TERMINAL};
use runner::ResolveError;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::with_seconds;
use crate::commands::flag_reader::{Reader, share};
use crate::commands::proxy::control::State;
use crate::exit::{BadArguments, Exit};
use crate::output;

/// Max p99 of the send delay, in ns. Above it, the proxy or the machine is too slow for its parameters.
const SEND_DELAY_MAX_NS: u64 = 1_000_000;
/// Min bytes of a buffer. With less, each read gets only a few bytes.
const BUFFER_MIN_BYTES: u64 = 1024;
const BUFFER_MAX_BYTES: u64 = 1 << 30;

/// The distribution of jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum JitterKind {
    /// Even, at most --jitter more or less
    Uniform,
    /// Bell-shaped with --jitter as standard deviation
    Normal,
}

/// What happens to new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DropKind {
    /// Reset at once
    Close,
    /// Left in the listen queue
    Ignore,
}

impl DropKind {
    fn to_new_connections(self) -> NewConnections {
        match self {
            Self::Close => NewConnections::Close,
            Self::Ignore => NewConnections::Ignore,
        }
    }
}

/// What is done to the connections.
#[derive(Args, Debug)]
pub(crate) struct ProxyFlags {
    /// Where clients connect: PORT, HOST:PORT (loopback or private), or path of a Unix socket
    #[arg(value_name = "LISTEN")]
    listen: String,
    /// Where connections go: PORT, HOST:PORT (loopback or private), or path of a Unix socket
    #[arg(value_name = "TARGET")]
    target: String,
    /// Delay of each direction, as netem and toxiproxy count it; a round trip takes twice this
    #[arg(long, value_name = "TIME", conflicts_with = "round_trip")]
    delay: Option<String>,
    /// Delay of a round trip, as ping shows it: half in each direction
    #[arg(long, visible_alias = "rtt", value_name = "TIME")]
    round_trip: Option<String>,
    /// Random deviation of the delay of each direction, more or less
    #[arg(long, value_name = "TIME")]
    jitter: Option<String>,
    /// Distribution of --jitter
    #[arg(long, value_name = "KIND", value_enum, default_value_t = JitterKind::Uniform)]
    jitter_kind: JitterKind,
    /// Bandwidth of each direction of each connection, such as 10MB/s
    #[arg(long, value_name = "SIZE/s")]
    bandwidth: Option<String>,
    /// Reset a connection after this many bytes (64KiB, both directions) or this long (10s)
    #[arg(long, value_name = "SIZE|TIME")]
    reset_after: Option<String>,
    /// Share of connections that --reset-after affects [default: 100%]
    #[arg(long, value_name = "SHARE")]
    reset_share: Option<String>,
    /// Time from the start until nothing is passed on
    #[arg(long, value_name = "TIME")]
    stall_after: Option<String>,
    /// How long nothing is passed on
    #[arg(long, value_name = "TIME")]
    stall_for: Option<String>,
    /// Let no new connection in
    #[arg(long, value_name = "HOW", value_enum)]
    drop_new: Option<DropKind>,
    /// Maximum open connections; further ones wait [default: 4096]
    #[arg(long, value_name = "N", hide_short_help = true)]
    connections: Option<String>,
    /// Maximum bytes on their way in each direction of a connection [default: 256KiB]
    #[arg(long, value_name = "SIZE", hide_short_help = true)]
    buffer: Option<String>,
    /// Unix socket at which the running proxy takes orders, one JSON object a line
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    control: Option<PathBuf>,
    /// Seed of --jitter and --reset-share
    #[arg(long, value_name = "N", default_value = "1", hide_short_help = true)]
    seed: String,
    /// terminal or json: one line at the start, one at the end
    #[arg(long, value_name = "NAME", default_value = TERMINAL.name, help_heading = "Results")]
    format: String,
}

/// Values of the flags.
struct ProxyArguments {
    place: ProxyConfig,
    settings: Settings,
    stall: Option<Stall>,
    is_json: bool,
}

/// Pause in which nothing is passed on. `after` counts from the start of the proxy.
#[derive(Clone, Copy)]
struct Stall {
    after: Duration,
    lasting: Duration,
}

/// Passes connections on until it is interrupted.
pub(crate) fn run(flags: &ProxyFlags) -> anyhow::Result<Exit> {
    let ProxyArguments { place, settings, stall, is_json } = read(flags)?;
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let running = proxy::start(&place, settings).map_err(explain_start_error)?;
    let (sender, received) = mpsc::channel();
    let _control = match &flags.control {
        Some(path) => {
            Some(control::listen(path, sender.clone()).map_err(|error| control_error(path, &error))?)
        }
        None => None,
    };
    if is_json {
        output::data(&listening_json(&running, &place))?;
    } else {
        output::lines(&listening_message(&running, &place, &settings))?;
    }
    listen_to_signals(signals, sender.clone())?;
    if let Some(stall) = stall {
        schedule_stall(stall, sender)?;
    }
    let mut state = State::new(settings);
    // The thread of signals keeps a sender for the life of the program, so that `recv` does not fail.
    while let Ok(received) = received.recv() {
        match received {
            ProxyEvent::Signal => break,
            ProxyEvent::Stall(lasting) => running.stall(lasting),
            // The client of the control socket may have disconnected.
            ProxyEvent::Order(line, answer) => drop(answer.send(state.execute(&line, &running))),
        }
    }
    let counters = running.stop();
    if is_json {
        output::data(&format!("{}\n", counters_json(&counters, "ended")))?;
    } else {
        output::remark(&summary(&counters));
    }
    Ok(Exit::Ok)
}

/// Event that the main thread waits for.
enum ProxyEvent {
    Signal,
    /// The stall begins, for this long.
    Stall(Duration),
    /// A line from the control socket, and the channel for its answer.
    Order(String, Sender<String>),
}

fn listen_to_signals(mut signals: Signals, sender: Sender<ProxyEvent>) -> std::io::Result<()> {
    let listen = move || {
        for _ in signals.forever() {
            // At the second signal, the receiver is already dropped, so the send fails harmlessly.
            let _ = sender.send(ProxyEvent::Signal);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

fn schedule_stall(stall: Stall, sender: Sender<ProxyEvent>) -> std::io::Result<()> {
    let wait = move || {
        thread::sleep(stall.after);
        // The proxy may have ended already.
        let _ = sender.send(ProxyEvent::Stall(stall.lasting));
    };
    thread::Builder::new().name("stall".to_owned()).spawn(wait).map(drop)
}

fn control_error(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let help = "choose another path of at most 107 characters; remove the file if no program listens there";
    anyhow::anyhow!("cannot listen for orders on {}: {error}\n  help: {help}", path.display())
}

fn explain_start_error(error: StartError) -> anyhow::Error {
    let help = match &error {
        StartError::Listen { endpoint: Endpoint::Tcp(_), .. } => "choose another port, or 0 for a free one",
        StartError::Listen { .. } => "choose another path; remove the file if no program listens there",
        StartError::Descriptors { .. } => "raise the hard limit (ulimit -Hn), or use fewer --connections",
        StartError::System(_) => "stop other programs, or raise the limits of this user",
    };
    anyhow::anyhow!("{error}\n  help: {help}")
}

fn read(flags: &ProxyFlags) -> anyhow::Result<ProxyArguments> {
    let mut reader = Reader::default();
    let listen = reader.read("LISTEN", Some(&flags.listen), endpoint);
    let target = reader.read("TARGET", Some(&flags.target), endpoint);
    if let Some(Endpoint::Tcp(address)) = target.as_ref().filter(|target| is_port_zero(target)) {
        reader.fault("TARGET", format!("{address} has port 0\n  help: write the port of the target"));
    }
    if target.is_some() && target == listen {
        reader.fault(
            "TARGET",
            "it is the address of LISTEN, so that the proxy would connect to itself".to_owned(),
        );
    }
    let settings = settings(flags, &mut reader);
    let stall = stall(flags, &mut reader);
    let buffer_bytes = reader.read("--buffer", flags.buffer.as_deref(), buffer_bytes);
    let connections_max = reader.read("--connections", flags.connections.as_deref(), connections);
    let seed = reader.read("--seed", Some(&flags.seed), units::count);
    let is_json = match flags.format.as_str() {
        name if name == JSON.name => true,
        name if name == TERMINAL.name => false,
        name => {
            reader.fault(
                "--format",
                format!("{name:?} is not a format of this command\n  help: write terminal or json"),
            );
            false
        }
    };
    let (Some(listen), Some(target), true) = (listen, target, reader.0.is_empty()) else {
        return Err(BadArguments(super::list_faults(&reader.0, "nothing was started")).into());
    };
    let buffer_bytes = buffer_bytes.unwrap_or(BUFFER_BYTES);
    let place = ProxyConfig { listen, target, connections_max, buffer_bytes, seed: seed.unwrap_or(1) };
    Ok(ProxyArguments { place, settings, stall, is_json })
}

fn settings(flags: &ProxyFlags, reader: &mut Reader) -> Settings {
    let delay = reader.read("--delay", flags.delay.as_deref(), delay);
    let round_trip = reader.read("--round-trip", flags.round_trip.as_deref(), delay_of_both);
    let jitter = reader.read("--jitter", flags.jitter.as_deref(), self::delay);
    let spread = match flags.jitter_kind {
        JitterKind::Uniform => Spread::Uniform,
        JitterKind::Normal => Spread::Normal,
    };
    let after = reader.read("--reset-after", flags.reset_after.as_deref(), reset_after);
    let share = reader.read("--reset-share", flags.reset_share.as_deref(), share_of_all);
    if share.is_some() && flags.reset_after.is_none() {
        reader.fault("--reset-share", "it needs --reset-after".to_owned());
    }
    Settings {
        delay: delay.or(round_trip).unwrap_or_default(),
        jitter: jitter.map(|by| Jitter { by, spread }),
        bandwidth: reader.read("--bandwidth", flags.bandwidth.as_deref(), bandwidth),
        reset: after.map(|after| Reset { after, share: share.unwrap_or(1.0) }),
        new_connections: flags.drop_new.map_or(NewConnections::Accept, DropKind::to_new_connections),
        is_cut: false,
    }
}

fn stall(flags: &ProxyFlags, reader: &mut Reader) -> Option<Stall> {
    let after = reader.read("--stall-after", flags.stall_after.as_deref(), duration);
    let lasting = reader.read("--stall-for", flags.stall_for.as_deref(), duration);
    if flags.stall_after.is_some() && flags.stall_for.is_none() {
        reader.fault("--stall-after", "it needs --stall-for".to_owned());
    }
    lasting.map(|lasting| Stall { after: after.unwrap_or_default(), lasting })
}

/// Reads an endpoint: `8080`, `:8080`, `localhost:8080`, `/run/app.sock`, or `unix:app.sock`.
fn endpoint(text: &str) -> Result<Endpoint, String> {
    if let Some(path) = text.strip_prefix("unix:").or_else(|| text.starts_with(['/', '.']).then_some(text)) {
        return Ok(Endpoint::Unix(PathBuf::from(path)));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Err(format!("{text:?} has a scheme\n  help: write {host} without {scheme}://"));
    }
    let wrong =
        || format!("{text:?} is not an address\n  help: write 8080, 127.0.0.1:8080, or /path/of.sock");
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inner) => inner,
        None if host.contains(':') => return Err(wrong()),
        None => host,
    };
    if host.is_empty() {
        return Ok(Endpoint::Tcp(SocketAddr::new(IpAddr::from([127, 0, 0, 1]), port)));
    }
    runner::own_address(host, port).map(Endpoint::Tcp).map_err(|error| match error {
        // Consent applies to loads, which have a rate. A proxy has none.
        ResolveError::Forbidden { address, class } => {
            format!("{address} is {class}; the proxy uses loopback and private addresses only")
        }
        other => other.to_string(),
    })
}

fn is_port_zero(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Tcp(address) if address.port() == 0)
}

fn drop_kind(text: &str) -> Result<NewConnections, String> {
    let kind = DropKind::from_str(text, false);
    kind.map(DropKind::to_new_connections).map_err(|_| format!("{text:?} is neither close nor ignore"))
}

fn duration(text: &str) -> Result<Duration, String> {
    units::duration_ns(&with_seconds(text)).map(Duration::from_nanos)
}

fn delay(text: &str) -> Result<Duration, String> {
    let too_long =
        || format!("{text} is more than the limit of {}", units::show_duration(DELAY_MAX.as_nanos() as u64));
    duration(text).and_then(|delay| (delay <= DELAY_MAX).then_some(delay).ok_or_else(too_long))
}

fn delay_of_both(text: &str) -> Result<Duration, String> {
    delay(text).map(|round_trip| round_trip / 2)
}

fn bandwidth(text: &str) -> Result<NonZeroU64, String> {
    let zero_bandwidth_error = || format!("{text} lets nothing pass\n  help: write 1B/s or more");
    units::bytes_per_s(text).and_then(|bytes| NonZeroU64::new(bytes).ok_or_else(zero_bandwidth_error))
}

fn reset_after(text: &str) -> Result<ResetAfter, String> {
    let as_time = units::duration_ns(text).map(|ns| ResetAfter::Time(Duration::from_nanos(ns)));
    let wrong = |_| format!("{text:?} is neither a size nor a duration\n  help: write it like 64KiB or 10s");
    as_time.or_else(|_| units::size_bytes(text).map(ResetAfter::Bytes)).map_err(wrong)
}

fn share_of_all(text: &str) -> Result<f64, String> {
    let wrong = |share: f64| format!("{text} is {share} of all\n  help: write 0% to 100%");
    share(text).and_then(|share| (0.0..=1.0).contains(&share).then_some(share).ok_or_else(|| wrong(share)))
}

fn buffer_bytes(text: &str) -> Result<usize, String> {
    let bytes = units::size_bytes(text)?;
    let is_right = (BUFFER_MIN_BYTES..=BUFFER_MAX_BYTES).contains(&bytes);
    is_right.then_some(bytes as usize).ok_or_else(|| format!("{text} is not from 1KiB to 1GiB"))
}

fn connections(text: &str) -> Result<u32, String> {
    let count = units::count(text)?;
    (1..=1_000_000)
        .contains(&count)
        .then_some(count as u32)
        .ok_or_else(|| format!("{text} is not from 1 to 1M"))
}

/// Message that clients can connect.
fn listening_message(running: &Running, place: &ProxyConfig, settings: &Settings) -> String {
    let mut does: Vec<String> = Vec::new();
    if !settings.delay.is_zero() {
        let [one, both] =
            [1, 2].map(|times| units::show_duration((settings.delay * times).as_nanos() as u64));
        does.push(format!("delay {one} each way ({both} round trip)"));
    }
    if let Some(jitter) = settings.jitter {
        does.push(format!("jitter {}", units::show_duration(jitter.by.as_nanos() as u64)));
    }
    if let Some(bandwidth) = settings.bandwidth {
        does.push(format!("{} B/s each way per connection", units::shown::count(bandwidth.get())));
    }
    let does = if does.is_empty() { "no delay".to_owned() } else { does.join(", ") };
    format!(
        "listening on {}, passing on to {}: {does}\nat most {} connections with {} KiB each way; Ctrl-C ends it\n",
        running.endpoint(),
        place.target,
        units::shown::count(running.connections_max().into()),
        units::shown::count(place.buffer_bytes.div_ceil(1024) as u64),
    )
}

fn listening_json(running: &Running, place: &ProxyConfig) -> String {
    let value = json!({
        "schema": "tenbin.proxy/1",
        "event": "listening",
        "listen": running.endpoint().to_string(),
        "target": place.target.to_string(),
        "connections_max": running.connections_max(),
        "buffer_bytes": place.buffer_bytes,
    });
    format!("{value}\n")
}

/// Summary of the counters in words.
fn summary(counters: &Counters) -> String {
    let count = units::shown::count;
    let size = |bytes: u64| format!("{} MiB", units::shown::mebibytes(bytes));
    let mut text = format!(
        "{} connections (max {} open), {} to the target, {} to clients",
        count(counters.accepted),
        count(counters.open_max),
        size(counters.bytes_to_target),
        size(counters.bytes_to_clients),
    );
    let happened = [
        (counters.resets, "reset by the proxy"),
        (counters.peer_resets, "reset by clients or the target"),
        (counters.dropped, "not let in"),
        (counters.stalls, "stalls"),
    ];
    for (number, what) in happened.into_iter().filter(|(number, _)| *number > 0) {
        text += &format!(", {} {what}", count(number));
    }
    if let Some(error) = &counters.connect_error {
        text += &format!("\n{} could not be passed on: {error}", count(counters.connect_failed));
    }
    if let Some(late) = counters.late {
        let shown = |ns: Option<u64>| ns.map_or("n/a".to_owned(), |ns| units::shown::duration(ns as f64));
        text += &format!(
            "\nsent late by p50 {}, p99 {}, max {} ({} sends)",
            shown(late.p50_ns),
            shown(late.p99_ns),
            shown(Some(late.max_ns)),
            count(late.count)
        );
        if late.p99_ns.is_some_and(|ns| ns > SEND_DELAY_MAX_NS) {
            text += "\nwarning: the proxy could not keep its delays\n  help: use fewer connections or a lower rate, or give \
                     it a core of its own";
        }
    }
    text
}

/// Counters as a JSON object. `event` says when they were taken.
fn counters_json(counters: &Counters, event: &str) -> serde_json::Value {
    let us = |ns: u64| ns as f64 / 1e3;
    let late = counters.late.map(|late| {
        json!({
            "sends": late.count,
            "p50_us": late.p50_ns.map(us),
            "p99_us": late.p99_ns.map(us),
            "max_us": us(late.max_ns),
        })
    });
    json!({
        "schema": "tenbin.proxy/1",
        "event": event,
        "connections": counters.accepted,
        "connections_max_open": counters.open_max,
        "target_unreachable": counters.connect_failed,
        "target_error": counters.connect_error,
        "dropped": counters.dropped,
        "resets": counters.resets,
        "peer_resets": counters.peer_resets,
        "stalls": counters.stalls,
        "bytes_to_target": counters.bytes_to_target,
        "bytes_to_clients": counters.bytes_to_clients,
        "late": late,
        "cpu_s": counters.cpu_ns.map(|ns| ns as f64 / 1e9),
    })
}
