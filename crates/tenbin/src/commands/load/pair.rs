//! `tenbin URL_A URL_B`: two running servers, compared in paired blocks.

use clap::Args;
use plan::{CONNECTIONS_DEFAULT, Field};

use super::LoadFlags;
use crate::adhoc::{Adhoc, Server};
use crate::arguments::with_seconds;
use crate::commands::run::{Ordered, exit};
use crate::exit::{BadArguments, Exit};

/// How long each run takes unless a flag says otherwise: many short runs tell more than a few long ones.
const MEASURED: &str = "5s";
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
    /// The first of them that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let all = [("--by", &self.by), ("--blocks", &self.blocks), ("--within", &self.within)];
        all.into_iter().find_map(|(flag, value)| value.as_ref().map(|_| flag))
    }
}

/// Runs both in turn until it is known how they compare.
pub(super) fn run(flags: &LoadFlags, other: &str) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    destination.check_study()?;
    if let Some(flag) = unsupported(flags) {
        let what = format!("{flag} does not work with two URLs");
        return Err(
            BadArguments(format!("{what}\n  help: leave it out, or write a plan: tenbin init")).into()
        );
    }
    let [first, second] = [Server::read(flags.url.as_deref().unwrap_or_default())?, Server::read(other)?];
    if first.name == second.name {
        let what = format!("both URLs are on {}", first.name);
        return Err(BadArguments(format!(
            "{what}\n  help: name two servers; paths are compared by a plan: tenbin init"
        ))
        .into());
    }
    if !first.asks_as(&second) {
        let what = "the two URLs have different paths";
        return Err(BadArguments(format!(
            "{what}\n  help: write the same path for both, or a plan: tenbin init"
        ))
        .into());
    }
    let adhoc = Adhoc {
        title: format!("{} and {}", first.name, second.name),
        servers: vec![first, second],
        request: &flags.request,
        tls: flags.tls.spec(),
        expects: flags.expects.keys(),
        gates: super::conditions(&flags.slo)?.into_iter().map(|condition| condition.text).collect(),
        load: load(flags),
        compare: compare(flags),
        seed: flags.seed.clone(),
        command: Some(command()),
    };
    let study = adhoc.study()?;
    let procedure = study::procedure(&study);
    let ordered = Ordered {
        study,
        procedure,
        resume: &None,
        blocks: None,
        within_ns: None,
        store: &flags.store,
        public: flags.public,
        label: &flags.label,
    };
    ordered.carry_out(&destination, "", |_, kept, _| Ok(exit(kept)))
}

/// The words of this command, on one line each.
fn command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().replace(['\n', '\r'], " "));
    std::iter::once("tenbin".to_owned()).chain(words).collect()
}

/// The keys of the load.
fn load(flags: &LoadFlags) -> Vec<(&'static str, String)> {
    let amounts = flags.amounts().into_iter().filter(|(field, _)| *field != Field::SEED);
    let mut load: Vec<_> = amounts.map(|(field, text)| (field.key, text)).collect();
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
    if flags.no_keepalive {
        load.push((Field::KEEP_ALIVE.key, "false".to_owned()));
    }
    load
}

/// The keys of the comparison.
fn compare(flags: &LoadFlags) -> Vec<(&'static str, String)> {
    let asked = &flags.comparison;
    // Where a rate is given, both servers have the same throughput until one is overloaded.
    let by = if flags.rate.is_some() { "p99" } else { "throughput" };
    let mut compare = vec![("by", asked.by.clone().unwrap_or_else(|| by.to_owned()))];
    compare.extend(asked.blocks.clone().map(|blocks| ("blocks", blocks)));
    compare.extend(asked.within.as_deref().map(|within| ("within", with_seconds(within).into_owned())));
    compare
}

/// A flag that a plan of two running servers cannot say.
fn unsupported(flags: &LoadFlags) -> Option<&'static str> {
    let all = [
        ("--stages", flags.stages.is_some()),
        ("--pin", flags.pin.is_some()),
        ("--body-file", flags.body_file.is_some()),
        ("--unix-socket", flags.unix_socket.is_some()),
        ("--resolve", !flags.resolve.is_empty()),
        ("--wait", flags.wait.is_some()),
    ];
    all.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag)).or_else(|| flags.sql.given())
}
