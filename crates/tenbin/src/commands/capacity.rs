//! `tenbin capacity PLAN --slo …`: finds the maximum sustainable load of a system.

use std::path::Path;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use evidence::{CapacityRules, Procedure};
use judge::words::percent_up_to;
use plan::{Fault, Field, SearchOverrides, Study, units};

use crate::adhoc::{AdhocLoad, AdhocPlan, Server, own_command};
use crate::arguments::{is_server, named_url, with_scheme, with_seconds};
use crate::commands::command_mix::CommandMixFlags;
use crate::commands::completions::plan_files;
use crate::commands::expects::ExpectFlags;
use crate::commands::origin::LabelFlag;
use crate::commands::request::{RequestFlags, TlsFlags};
use crate::commands::resume::ResumeFlag;
use crate::commands::run::StudyRun;
use crate::commands::{PublicFlag, StoreFlag, list_faults, read_plan};
use crate::destination::ResultFlags;
use crate::exit::{BadArguments, Exit};

/// Default distance of the highest passing and the lowest failing rate at the end of a search, as a share.
const RESOLUTION: f64 = 0.03;
const RESOLUTION_QUICK: f64 = 0.1;
const RESOLUTION_MIN: f64 = 0.005;
const RESOLUTION_MAX: f64 = 0.5;
/// Default number of fresh runs that confirm each of the two rates.
const CONFIRM_RUNS: u32 = 5;
const CONFIRM_RUNS_QUICK: u32 = 3;
const CONFIRM_RUNS_MAX: u64 = 50;
/// Default measured time of each run on a URL. The other two are the default warm-up and number of connections.
const MEASURED: &str = "5s";
const WARM_UP: &str = "1s";
const CONNECTIONS: &str = "100";
/// Max runs of one search.
const RUNS_MAX: u32 = 120;

/// Arguments of `tenbin capacity`.
#[derive(Args, Debug)]
pub(crate) struct CapacityFlags {
    /// Plan file, or URL of a running server
    #[arg(value_name = "PLAN|URL", add = ArgValueCompleter::new(plan_files))]
    of: String,
    /// Conditions that must hold, such as 'p99<200ms, errors<0.1%'; repeatable
    #[arg(long, value_name = "CONDITIONS", required = true)]
    slo: Vec<String>,
    /// Load of the plan whose requests are sent, if it has several
    #[arg(long, value_name = "NAME")]
    load: Option<String>,
    #[command(flatten)]
    request: RequestFlags,
    #[command(flatten)]
    tls: TlsFlags,
    #[command(flatten)]
    expects: ExpectFlags,
    #[command(flatten)]
    command_mix: CommandMixFlags,
    /// With a URL: maximum number of connections [default: 100]
    #[arg(short, long, value_name = "N", help_heading = "Request")]
    connections: Option<String>,
    /// Stop when the highest passing and the lowest failing rate are this close [default: 3%, quick 10%]
    #[arg(long, value_name = "SHARE", help_heading = "Search")]
    resolution: Option<String>,
    /// First rate [default: found with users who wait for replies]
    #[arg(long, value_name = "RATE", help_heading = "Search")]
    from: Option<String>,
    /// Maximum rate
    #[arg(long, value_name = "RATE", help_heading = "Search")]
    to: Option<String>,
    /// Measured time of each run [default: the plan's, or 5s]
    #[arg(long = "for", visible_short_alias = 'd', value_name = "TIME", help_heading = "Search")]
    measured: Option<String>,
    /// Warm-up of each run [default: the plan's, or 1s]
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    warm_up: Option<String>,
    /// Fresh runs that confirm each of the two ends [default: 5, quick 3]
    #[arg(long, value_name = "N", help_heading = "Search")]
    confirm: Option<String>,
    /// Finally run slightly below the highest passing rate for this long
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    soak: Option<String>,
    /// Skip the check that the system recovers from an overload
    #[arg(long, help_heading = "Search")]
    no_overload: bool,
    /// Maximum time of the search; reports what is known by then
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    within: Option<String>,
    /// Seed of all random draws [default: the plan's, or random]
    #[arg(long, value_name = "N", help_heading = "Search")]
    seed: Option<String>,
    /// Search coarsely, with the short form of the plan
    #[arg(long, help_heading = "Search")]
    quick: bool,
    #[command(flatten, next_help_heading = "Search")]
    resume: ResumeFlag,
    #[command(flatten)]
    public: PublicFlag,
    #[command(flatten)]
    label: LabelFlag,
    #[command(flatten)]
    results: ResultFlags,
    #[command(flatten)]
    store: StoreFlag,
}

/// Searches, stores the study, and reports it.
pub(crate) fn run(flags: &CapacityFlags) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    destination.check_study()?;
    let asked = CapacityOptions::read(flags).map_err(|faults| bad(&faults))?;
    let study = flags.study()?;
    let mut study = study.searched(&asked.searched).map_err(|faults| bad(&faults))?;
    let within_ns = asked.within_ns;
    study.compare.within_ns = within_ns;
    asked.check_soak(&study).map_err(|fault| bad(&[fault]))?;
    let words = asked.words(&study);
    let procedure = Procedure::Capacity(asked.rules);
    let resume = Some(&flags.resume);
    let (store, public) = (&flags.store, flags.public);
    let label = &flags.label;
    let ordered =
        StudyRun { study, procedure, resume, blocks: None, within_ns, store, public, label, baseline: None };
    ordered.execute(&destination, &words)
}

impl CapacityFlags {
    /// Reads the plan, or builds one for the URL of a running server.
    fn study(&self) -> anyhow::Result<Study> {
        let (name, url) = named_url(&self.of);
        if !is_server(url) {
            if let Some(flag) = self.url_flag() {
                let what = format!("{flag} is for the URL of a running server, and {} is a plan", self.of);
                return Err(BadArguments(format!("{what}\n  help: write it into the plan")).into());
            }
            let mut study = read_plan(Path::new(&self.of), self.quick)?;
            // An experiment can follow a comparison, but not a search: the last runs of a search have a rate that no other run has.
            study.experiment = None;
            return Ok(study);
        }
        let (mut server, asked) = self.server(url)?;
        name.into_iter().for_each(|name| name.clone_into(&mut server.name));
        let connections = self.connections.clone().unwrap_or_else(|| CONNECTIONS.to_owned());
        let load =
            [("rate", "100/s"), ("connections", &connections), ("for", MEASURED), ("warm-up", WARM_UP)];
        let pipeline = self.command_mix.pipeline.as_deref().map(|depth| (Field::PIPELINE.key, depth));
        let load = load.into_iter().chain(pipeline).map(|(key, value)| (key, value.to_owned())).collect();
        AdhocPlan {
            title: server.name.clone(),
            servers: vec![server],
            asked,
            gates: Vec::new(),
            load,
            compare: Vec::new(),
            seed: None,
            command: Some(own_command()),
        }
        .study()
    }

    /// Reads the URL of a running server, and the requests to it.
    fn server(&self, url: &str) -> anyhow::Result<(Server, AdhocLoad)> {
        let refused = |flag: &str, what: &str| {
            BadArguments(format!("{flag}: {what}\n  help: leave it out, or write a plan: tenbin init"))
        };
        if plan::owns_steps(url) {
            if let Some(flag) = self.request.given().or_else(|| self.expects.given()) {
                return Err(refused(flag, "it applies to HTTP").into());
            }
            let (server, text) =
                Server::from_step_url(url, &self.command_mix.spec()).map_err(|faults| bad(&faults))?;
            return Ok((server, AdhocLoad::Steps { text, tls: self.tls.spec() }));
        }
        if let Some(flag) = self.command_mix.given() {
            return Err(refused(flag, "it applies to key-value stores").into());
        }
        let server = Server::read(url)?;
        let (described, body) = self.request.read_text(&with_scheme(url), "with the URL of a server")?;
        let (tls, expects) = (self.tls.spec(), self.expects.keys());
        Ok((server, AdhocLoad::Request { described: described.into(), body, tls, expects }))
    }

    /// First given flag that describes the requests to a URL. `None` if there is none.
    fn url_flag(&self) -> Option<&'static str> {
        let is_given = self.connections.is_some().then_some("--connections");
        is_given
            .or_else(|| self.request.given())
            .or_else(|| self.tls.given())
            .or_else(|| self.expects.given())
            .or_else(|| self.command_mix.given())
    }
}

fn bad(faults: &[Fault]) -> anyhow::Error {
    BadArguments(list_faults(faults, "nothing was started")).into()
}

/// Values of the flags.
struct CapacityOptions {
    rules: CapacityRules,
    searched: SearchOverrides,
    within_ns: Option<u64>,
}

impl CapacityOptions {
    /// Reads all flags, or returns all errors in them.
    fn read(flags: &CapacityFlags) -> Result<Self, Vec<Fault>> {
        let mut reader = Reader::default();
        let slos = study::slos(&flags.slo).unwrap_or_else(|error| {
            let help = error.help();
            reader.faults.push(Fault::new(format!("--slo {:?}", error.condition), error.what, help));
            Vec::new()
        });
        let (from_per_s, to_per_s) = (reader.rate("--from", &flags.from), reader.rate("--to", &flags.to));
        if from_per_s.zip(to_per_s).is_some_and(|(from, to)| from > to) {
            let what = "it is higher than --to";
            reader.faults.push(Fault::new("--from", what, "swap the two"));
        }
        let usual =
            if flags.quick { (RESOLUTION_QUICK, CONFIRM_RUNS_QUICK) } else { (RESOLUTION, CONFIRM_RUNS) };
        let rules = CapacityRules {
            slos: slos.iter().map(|slo| slo.text.clone()).collect(),
            resolution: reader.resolution(&flags.resolution).unwrap_or(usual.0),
            from_per_s,
            to_per_s,
            confirm_runs: reader.confirm(&flags.confirm).unwrap_or(usual.1),
            overruled_by: study::OVERRULE_LEAD,
            has_overload: !flags.no_overload,
            soak_s: reader.time("--soak", &flags.soak).map(|ns| ns as f64 / 1e9),
            runs_max: RUNS_MAX,
        };
        let searched = SearchOverrides {
            load: flags.load.clone(),
            measured_ns: reader.time("--for", &flags.measured),
            warm_up_ns: reader.read("--warm-up", &flags.warm_up, seconds),
            seed: reader.read("--seed", &flags.seed, seed),
            conditions: slos,
        };
        let within_ns = reader.time("--within", &flags.within);
        if reader.faults.is_empty() { Ok(Self { rules, searched, within_ns }) } else { Err(reader.faults) }
    }

    /// Returns an error if the soak, which is the last and long run, is shorter than the other runs.
    fn check_soak(&self, study: &Study) -> Result<(), Fault> {
        let measured_s = study.measured_ns(0).map(|ns| ns as f64 / 1e9);
        match self.rules.soak_s.zip(measured_s).filter(|(soak_s, measured_s)| soak_s < measured_s) {
            None => Ok(()),
            Some(_) => {
                let what = "it is shorter than the other runs of the search";
                Err(Fault::new("--soak", what, "write a longer time, such as 10m"))
            }
        }
    }

    /// Describes the search, before it begins.
    fn words(&self, study: &Study) -> String {
        let rules = &self.rules;
        let load = &study.loads[0];
        let quick = if study.is_quick { "quick: " } else { "" };
        let resolution = percent_up_to(rules.resolution, 2);
        let confirmed = match rules.confirm_runs {
            0 => "not confirmed by fresh runs".to_owned(),
            runs => format!("confirmed by {runs} fresh runs at each end"),
        };
        let mut words = format!(
            "{quick}searching for the highest rate with {}: runs of {}, to {resolution}, {confirmed}, {} runs at most",
            rules.slos.join(", "),
            load.stop_words,
            rules.runs_max,
        );
        if study.variants.len() > 1 {
            words += &format!(" for each of {} variants", study.variants.len());
        }
        let steps = study.steps_per_iteration(0);
        if steps > 1.0 {
            words += &format!("; rates are those of requests, of which an iteration has {steps:.1}");
        }
        report::visible(&words)
    }
}

/// Reads flags, and collects the errors in them.
#[derive(Default)]
struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn read<T>(
        &mut self,
        flag: &str,
        text: &Option<String>,
        read: fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let fault = |what| self.faults.push(Fault::new(flag, what, "correct the value"));
        read(text.as_deref()?).map_err(fault).ok()
    }

    fn time(&mut self, flag: &str, text: &Option<String>) -> Option<u64> {
        let ns = self.read(flag, text, seconds)?;
        if ns == 0 {
            self.faults.push(Fault::new(flag, "it must be more than 0", "write a time such as 10s"));
        }
        Some(ns)
    }

    fn rate(&mut self, flag: &str, text: &Option<String>) -> Option<f64> {
        let per_s = self.read(flag, text, units::rate_per_s)?;
        if per_s <= 0.0 {
            self.faults.push(Fault::new(flag, "it must be more than 0", "write a rate such as 500/s"));
        }
        Some(per_s)
    }

    fn resolution(&mut self, text: &Option<String>) -> Option<f64> {
        let share = self.read("--resolution", text, share)?;
        if !(RESOLUTION_MIN..=RESOLUTION_MAX).contains(&share) {
            let what = format!("{:.2}% is not between 0.5% and 50%", share * 100.0);
            self.faults.push(Fault::new("--resolution", what, "write a share such as 3%"));
        }
        Some(share)
    }

    fn confirm(&mut self, text: &Option<String>) -> Option<u32> {
        let runs = self.read("--confirm", text, units::count)?;
        if runs > CONFIRM_RUNS_MAX {
            let what = format!("{runs} is not between 0 and {CONFIRM_RUNS_MAX}");
            self.faults.push(Fault::new("--confirm", what, "choose a number between them"));
        }
        Some(runs.min(CONFIRM_RUNS_MAX) as u32)
    }
}

/// Reads a duration, in ns. A bare number is in seconds.
fn seconds(text: &str) -> Result<u64, String> {
    units::duration_ns(&with_seconds(text))
}

/// Reads a percentage as a share: `3%` is 0.03.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    let is_plain = |number: &&str| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let percent = number.filter(is_plain).and_then(|number| number.parse::<f64>().ok());
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("{text:?} is not a percentage; write it like 3%, 0.5%"))
}

fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a whole number below 2^64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_percentage_as_share() {
        assert_eq!(share("3%"), Ok(0.03));
        assert_eq!(share(" 0.5 %"), Ok(0.005));
        for bad in ["", "%", "3", "-3%", "3%%", "NaN%", "inf%", "1e2%"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
