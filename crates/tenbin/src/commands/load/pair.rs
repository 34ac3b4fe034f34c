//! `tenbin URL_A URL_B`: compares two or more running servers in paired blocks.

mod databases;

use std::collections::BTreeSet;

use clap::Args;
use plan::{CONNECTIONS_DEFAULT, Field, ScriptSource};

use super::LoadFlags;
use crate::adhoc::{AdhocLoad, AdhocPlan, Server, own_command};
use crate::arguments::{named_url, with_scheme, with_seconds};
use crate::commands::list_faults;
use crate::commands::run::StudyRun;
use crate::exit::{BadArguments, Exit};

/// Default measured time of each run. Many short runs tell more than a few long ones.
const MEASURED: &str = "5s";
/// Default warm-up of each run.
const WARM_UP: &str = "1s";

/// How two servers are compared.
#[derive(Args, Debug)]
pub(super) struct ComparisonFlags {
    /// Figure that decides, such as throughput or p99 [default: throughput; with -R, p99]
    #[arg(long, value_name = "METRIC", help_heading = "Two URLs", hide_short_help = true)]
    by: Option<String>,
    /// Maximum number of runs of each server [default: 24]
    #[arg(long, value_name = "N", help_heading = "Two URLs", hide_short_help = true)]
    blocks: Option<String>,
    /// Maximum time of all runs together
    #[arg(long, value_name = "TIME", help_heading = "Two URLs", hide_short_help = true)]
    within: Option<String>,
}

impl ComparisonFlags {
    /// First of these flags that was given. `None` if there is none.
    pub(super) fn given(&self) -> Option<&'static str> {
        let all = [("--by", &self.by), ("--blocks", &self.blocks), ("--within", &self.within)];
        all.into_iter().find_map(|(flag, value)| value.as_ref().map(|_| flag))
    }
}

/// A kind of servers that are compared.
struct PairKind {
    /// Whether the URL of a server is of this kind.
    has_url: fn(&str) -> bool,
    /// Noun for one server, with its article.
    noun: &'static str,
    /// Noun for the URLs.
    plural: &'static str,
    /// First given flag that does not apply. `None` if there is none.
    unsupported: fn(&LoadFlags) -> Option<&'static str>,
    /// Reads the servers and their load.
    read: ReadPair,
}

/// Reads servers from their URLs and names, and the load on them.
type ReadPair =
    fn(&LoadFlags, &[ScriptSource], &[&str], &[Option<&str>]) -> anyhow::Result<(Vec<Server>, AdhocLoad)>;

/// All kinds. The last one has every other URL.
static KINDS: [PairKind; 3] = [
    databases::KIND,
    PairKind {
        has_url: plan::owns_steps,
        noun: "a server of another protocol",
        plural: "URLs",
        unsupported: |flags| request_flag(flags).or_else(|| flags.sql.given()),
        read: |flags, _, urls, names| read_step_servers(flags, urls, names),
    },
    PairKind {
        has_url: |_| true,
        noun: "an HTTP server",
        plural: "URLs",
        unsupported: |flags| flags.sql.given().or_else(|| flags.command_mix.given()),
        read: |flags, _, urls, names| Ok((read_web_servers(urls, names)?, request(flags, urls[0])?)),
    },
];

/// Number of the kind of a server.
fn kind_of(url: &str) -> usize {
    KINDS.iter().position(|kind| (kind.has_url)(url)).unwrap_or(KINDS.len() - 1)
}

/// First given flag of requests. `None` if there is none.
fn request_flag(flags: &LoadFlags) -> Option<&'static str> {
    flags.request.given().or_else(|| flags.expects.given())
}

/// Runs all servers in turn until the comparison is conclusive, or until a limit of blocks or time is reached.
pub(super) fn run(flags: &LoadFlags, played: &[ScriptSource]) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    destination.check_study()?;
    let written = flags.url.iter().chain(&flags.others).map(|url| named_url(url));
    let (names, urls): (Vec<Option<&str>>, Vec<&str>) = written.unzip();
    let kind = &KINDS[kind_of(urls[0])];
    if urls.iter().any(|url| kind_of(url) != kind_of(urls[0])) {
        let help = "name two databases, two servers of HTTP, or two of another protocol; or write a plan: tenbin init";
        return Err(bad_arguments(&format!("one URL is that of {}, and the other is not", kind.noun), help));
    }
    if let Some(flag) = unsupported(flags, kind) {
        let noun = kind.plural;
        return Err(bad_arguments(
            &format!("{flag} does not work with two {noun}"),
            "leave it out, or write a plan: tenbin init",
        ));
    }
    let (servers, asked) = (kind.read)(flags, played, &urls, &names)?;
    let conditions = super::conditions(&flags.slo)?;
    let mut compare = compare(flags);
    // The first server is the baseline of the others.
    if conditions.iter().any(|condition| condition.of_baseline.is_some()) {
        compare.push(("baseline", servers[0].name.clone()));
    }
    let adhoc = AdhocPlan {
        title: servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(" and "),
        servers,
        asked,
        gates: conditions.into_iter().map(|condition| condition.text).collect(),
        load: load(flags),
        compare,
        seed: flags.seed.clone(),
        command: Some(own_command()),
    };
    let study = adhoc.study()?;
    StudyRun::begun(study, &flags.store, flags.public, &flags.label).execute(&destination, "")
}

fn bad_arguments(what: &str, help: &str) -> anyhow::Error {
    BadArguments(format!("{what}\n  help: {help}")).into()
}

/// First server that has the name of an earlier one. `None` if all names differ.
fn duplicate_name(servers: &[Server]) -> Option<&Server> {
    let mut names = BTreeSet::new();
    servers.iter().find(|server| !names.insert(&server.name))
}

/// Gives servers the names that were written before their URLs. Returns an error if two have the same name.
fn with_names(mut servers: Vec<Server>, names: &[Option<&str>]) -> anyhow::Result<Vec<Server>> {
    for (server, name) in servers.iter_mut().zip(names) {
        server.name = name.map_or_else(|| std::mem::take(&mut server.name), str::to_owned);
    }
    match duplicate_name(&servers) {
        None => Ok(servers),
        Some(server) => Err(bad_arguments(
            &format!("two URLs have the name {}", server.name),
            "write other names: a=URL b=URL",
        )),
    }
}

fn read_web_servers(urls: &[&str], names: &[Option<&str>]) -> anyhow::Result<Vec<Server>> {
    let servers: Vec<Server> = urls.iter().map(|url| Server::read(url)).collect::<Result<_, _>>()?;
    if let Some(server) = duplicate_name(&servers) {
        let what = format!("both URLs are on {}", server.name);
        return Err(bad_arguments(&what, "name two servers; paths are compared by a plan: tenbin init"));
    }
    if servers.iter().any(|server| !server.has_same_path(&servers[0])) {
        let what = "the two URLs have different paths";
        return Err(bad_arguments(what, "write the same path for both, or a plan: tenbin init"));
    }
    with_names(servers, names)
}

/// Servers whose protocol owns its steps, and the steps, which are the same for all.
fn read_step_servers(
    flags: &LoadFlags,
    urls: &[&str],
    names: &[Option<&str>],
) -> anyhow::Result<(Vec<Server>, AdhocLoad)> {
    let mix = flags.command_mix.spec();
    let (mut servers, mut texts, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for url in urls {
        match Server::from_step_url(url, &mix) {
            Ok((server, text)) => {
                servers.push(server);
                texts.push(text);
            }
            // An error in a flag is reported once, because it is equal for all URLs.
            Err(of_url) => {
                faults.extend(of_url.into_iter().filter(|fault| !faults.contains(fault)).collect::<Vec<_>>())
            }
        }
    }
    if !faults.is_empty() {
        return Err(BadArguments(list_faults(&faults, "nothing was sent")).into());
    }
    if let Some(server) = duplicate_name(&servers) {
        return Err(bad_arguments(&format!("both URLs name {}", server.name), "name two servers"));
    }
    let Some(text) = texts.pop().filter(|text| texts.iter().all(|other| other == text)) else {
        let what = "the URLs have different steps";
        return Err(bad_arguments(what, "write the same query for both, or a plan: tenbin init"));
    };
    Ok((with_names(servers, names)?, AdhocLoad::Steps { text, tls: flags.tls.spec() }))
}

fn request(flags: &LoadFlags, url: &str) -> anyhow::Result<AdhocLoad> {
    let (described, body) = flags.request.read_text(&with_scheme(url), "with two URLs")?;
    Ok(AdhocLoad::Request {
        described: described.into(),
        body,
        tls: flags.tls.spec(),
        expects: flags.expects.keys(),
    })
}

/// Keys of `load` with their values.
fn load(flags: &LoadFlags) -> Vec<(&'static str, String)> {
    let load_fields = flags.load_fields().into_iter().filter(|(field, _)| *field != Field::SEED);
    let mut load: Vec<_> = load_fields.map(|(field, text)| (field.key, text)).collect();
    let has = |load: &[(&str, String)], field: Field| load.iter().any(|(key, _)| *key == field.key);
    if !has(&load, Field::USERS) && !has(&load, Field::RATE) {
        load.push((Field::USERS.key, CONNECTIONS_DEFAULT.to_string()));
    }
    if !has(&load, Field::MEASURED) && !has(&load, Field::REQUESTS) {
        load.push((Field::MEASURED.key, MEASURED.to_owned()));
    }
    if !has(&load, Field::WARM_UP) {
        load.push((Field::WARM_UP.key, WARM_UP.to_owned()));
    }
    let switched_off =
        [(Field::KEEP_ALIVE, flags.no_keepalive), (Field::ROOM_CHECK, flags.sql.no_room_check)];
    for (field, _) in switched_off.into_iter().filter(|(_, is_off)| *is_off) {
        load.push((field.key, "false".to_owned()));
    }
    if flags.retry_stale {
        load.push((Field::RETRY_STALE.key, "true".to_owned()));
    }
    load
}

/// Keys of `compare` with their values.
fn compare(flags: &LoadFlags) -> Vec<(&'static str, String)> {
    let asked = &flags.comparison;
    // At a given rate, all servers have the same throughput until one of them is overloaded.
    let by = if flags.rate.is_some() { "p99" } else { "throughput" };
    let mut compare = vec![("by", asked.by.clone().unwrap_or_else(|| by.to_owned()))];
    compare.extend(asked.blocks.clone().map(|blocks| ("blocks", blocks)));
    compare.extend(asked.within.as_deref().map(|within| ("within", with_seconds(within).into_owned())));
    compare
}

/// First given flag that a plan of running servers cannot express. `None` if there is none.
fn unsupported(flags: &LoadFlags, kind: &PairKind) -> Option<&'static str> {
    let all = [
        ("--stages", flags.stages.is_some()),
        ("--recorded", flags.recorded.is_some()),
        ("--pin", flags.pin.is_some()),
        ("--unix-socket", flags.unix_socket.is_some()),
        ("--pid", flags.pid.is_some()),
        ("--container", flags.container.is_some()),
        ("--resolve", !flags.resolve.is_empty()),
        ("--wait", flags.wait.is_some()),
        ("--baseline", flags.baseline.is_some()),
    ];
    let given = all.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    given.or_else(|| (kind.unsupported)(flags))
}
