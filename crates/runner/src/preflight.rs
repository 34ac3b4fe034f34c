//! Checks before a study starts: missing programs, forbidden addresses, and a machine that is too small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::allowed_cores;
use plan::{Environment, Fault, Launch, LaunchCommand, Study};

use crate::consent::PublicLoads;
use crate::cores::Cores;
use crate::prepare::shortfalls_of;
use crate::programs::found_program;
use crate::recipe;
use crate::resolve;
use crate::threads::{GeneratorThreads, is_named_here};
use crate::together;

/// First port for texts that are only checked.
const FIRST_EXAMPLE_PORT: u16 = 20_001;

/// Address of a host for texts that are only checked.
const EXAMPLE_HOST: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 2);

/// Checks everything that prevents a study on this machine. Starts no processes of the study. `tenbin` is the path of this program.
pub fn preflight(study: &Study, tenbin: &Path, public: &PublicLoads) -> Vec<Fault> {
    let mut faults = Vec::new();
    let allowed = allowed_cores();
    faults.extend(Cores::choose(&study.pin, &allowed).err());
    faults.extend(together::check_memory(study));
    faults.extend(missing_programs(study, tenbin));
    faults.extend(missing_tools(study, tenbin));
    faults.extend(check_limits(study, tenbin));
    faults.extend(check_hosts(study));
    faults.extend(check_disks(study, tenbin));
    faults.extend(forbidden_addresses(study, tenbin, public));
    for (number, load) in study.loads.iter().enumerate() {
        let Some(launch) = example_launch(study, tenbin) else { continue };
        match study.plan(number, &launch) {
            Ok(plan) => {
                let threads = GeneratorThreads::choose(&plan, &[], is_named_here(&plan)).count;
                let short = shortfalls_of(&plan, threads, launch.socket.is_none());
                faults.extend(short.iter().map(|short| {
                    Fault::new(&load.name, short.to_string(), "use fewer connections, or raise the limit")
                }));
            }
            Err(more) => faults.extend(more),
        }
    }
    faults
}

/// Launch of a variant that needs the most of this machine: over TCP, ports in addition to file descriptors.
pub(crate) fn example_launch(study: &Study, tenbin: &Path) -> Option<Launch> {
    let needs_ports = |launch: &Launch| launch.socket.is_none();
    launches(study, tenbin).find(needs_ports).or_else(|| launches(study, tenbin).next())
}

/// Launch of every variant, with example values.
pub(crate) fn launches<'a>(study: &'a Study, tenbin: &'a Path) -> impl Iterator<Item = Launch> + 'a {
    (0..study.variants.len()).map(move |variant| {
        let names = study.ports(variant).into_iter();
        let ports: Vec<_> = names.zip(FIRST_EXAMPLE_PORT..).collect();
        // The folder does not exist. The system itself creates programs in it, so they cannot be checked.
        let has_host = study.systems[study.variants[variant].system].host.is_some();
        let host = if has_host { EXAMPLE_HOST } else { Ipv4Addr::LOCALHOST };
        study.launch(variant, &Environment { ports: &ports, dir: Path::new("/nonexistent"), tenbin, host })
    })
}

/// Public or otherwise forbidden addresses in URLs. Names are not resolved.
fn forbidden_addresses(study: &Study, tenbin: &Path, public: &PublicLoads) -> Vec<Fault> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let urls = |launch: &Launch| -> Vec<String> {
        let of_endpoints = launch
            .endpoints
            .iter()
            .flat_map(|endpoint| std::iter::once(&endpoint.url).chain(&endpoint.further.urls));
        let own = std::iter::once(&launch.url).chain(&launch.further.urls).chain(&launch.database);
        own.chain(of_endpoints).cloned().collect()
    };
    for launch in launches(study, tenbin).filter(|launch| seen.insert(urls(launch))) {
        // Other checks report other errors of a plan.
        let Ok(plan) = study.plan(0, &launch) else { continue };
        for peer in plan.peers().filter(|peer| peer.unix_socket.is_none()) {
            if let Some(why) = resolve::forbidden(&peer.host, public) {
                found.entry(launch.system.clone()).or_insert_with(|| why.to_string());
            }
        }
    }
    let fault = |(system, why): (String, String)| {
        let (what, help) = plan::split_help(&why);
        Fault::new(format!("systems: {system}"), what, help.unwrap_or("correct the url"))
    };
    found.into_iter().map(fault).collect()
}

/// Error if a system needs its own host and none can be created here. Tries it once.
fn check_hosts(study: &Study) -> Option<Fault> {
    let system = study.systems.iter().find(|system| system.host.is_some())?;
    let failure = lab::hosts::check().err()?;
    Some(Fault::new(format!("systems: {}: host", system.name), failure.what, failure.way_out))
}

/// Error if a system needs its own disk and none can be created here. Tries the largest one.
fn check_disks(study: &Study, tenbin: &Path) -> Option<Fault> {
    let launch = launches(study, tenbin).max_by_key(|launch| launch.disk_bytes)?;
    let failure = lab::disks::check(launch.disk_bytes?).err()?;
    Some(Fault::new(format!("systems: {}: disk", launch.system), failure.what, failure.way_out))
}

/// Limits that cannot be set here. Tries each set of limits once, without a process.
fn check_limits(study: &Study, tenbin: &Path) -> Vec<Fault> {
    let mut tried: Vec<plan::Limits> = Vec::new();
    let mut faults: BTreeMap<String, Fault> = BTreeMap::new();
    for launch in launches(study, tenbin) {
        let to_come = recipe::limits_to_come(&launch);
        if faults.contains_key(&launch.system) || to_come.is_empty() && tried.contains(&launch.limits) {
            continue;
        }
        tried.push(launch.limits.clone());
        if let Err(failure) = lab::limits::check(&recipe::limits(&launch.limits), &to_come) {
            let field = format!("systems: {}: resources", launch.system);
            faults.insert(launch.system, Fault::new(field, failure.what, failure.way_out));
        }
    }
    faults.into_values().collect()
}

/// Whether CPU time and I/O of systems can be limited here, in this order. Tries each limit once, without a process.
pub fn can_limit() -> [bool; 2] {
    let cpu = lab::limits::Limits { cpu_cores: Some(1.0), ..Default::default() };
    let disk = lab::limits::DiskLimits { read_bytes_per_s: Some(1 << 40), ..Default::default() };
    let io = lab::limits::Limits { disk, ..Default::default() };
    [cpu, io].map(|limits| lab::limits::check(&limits, &[]).is_ok())
}

/// Cores that this process may use.
pub fn allowed() -> Vec<usize> {
    allowed_cores()
}

fn missing_programs(study: &Study, tenbin: &Path) -> Vec<Fault> {
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for launch in launches(study, tenbin) {
        let processes = launch.processes.iter().map(|process| &process.command);
        let commands = launch.before.iter().chain(&launch.after).chain(&launch.version).chain(processes);
        for command in commands.filter(|command| !is_installed(command)) {
            wanted.entry(command.argv[0].clone()).or_insert_with(|| launch.system.clone());
        }
    }
    let fault = |(program, system): (String, String)| {
        let what = format!("the program {program:?} is not there, or may not be run");
        let way_out = match program.contains('/') {
            true => "correct the path; a relative one begins at the working directory (in)",
            false => "install it, or add its folder to PATH",
        };
        Fault::new(format!("systems: {system}"), what, way_out)
    };
    wanted.into_iter().map(fault).collect()
}

/// Load generators that are not installed.
fn missing_tools(study: &Study, tenbin: &Path) -> Vec<Fault> {
    let mut missing: BTreeMap<String, Fault> = BTreeMap::new();
    for launch in launches(study, tenbin) {
        for (load, commands) in study.loads.iter().zip(&launch.tools) {
            let Some(command) =
                commands.as_ref().map(|tool| &tool.measured).filter(|tool| !is_installed(tool))
            else {
                continue;
            };
            let program = command.argv.first().cloned().unwrap_or_default();
            let tool = loadtools::find_in_command([program.as_str()]);
            let help = match tool.filter(|_| !program.contains('/')) {
                Some(tool) => format!("install it: {}", tool.install),
                None => "correct the path; a relative one begins at the folder of the plan".to_owned(),
            };
            let what = format!("the program {program:?} is not there, or may not be run");
            missing
                .entry(program)
                .or_insert_with(|| Fault::new(format!("load: {}: tool", load.name), what, help));
        }
    }
    missing.into_values().collect()
}

fn is_installed(command: &LaunchCommand) -> bool {
    let Some(program) = command.argv.first() else { return false };
    command.dir.join(program).starts_with("/nonexistent") || found_program(command, program).is_some()
}

pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_by_working_directory_and_path() {
        let command = |program: &str, env: &[(&str, &str)], dir: &str| LaunchCommand {
            argv: vec![program.to_owned()],
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            dir: dir.into(),
        };
        assert!(is_installed(&command("sh", &[], "/")));
        assert!(is_installed(&command("/bin/sh", &[], "/")));
        assert!(is_installed(&command("bin/sh", &[], "/")), "relative to the working directory");
        assert!(!is_installed(&command("bin/sh", &[], "/etc")));
        assert!(!is_installed(&command("no-such-program", &[], "/")));
        assert!(!is_installed(&command("sh", &[("PATH", "/etc")], "/")), "the command's own PATH counts");
        assert!(!is_installed(&command("/etc/passwd", &[], "/")), "a file is no program");
    }
}
