//! Stage: a system that can be started, and its load.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use evidence::Failure;
use lab::Root;
use lab::hosts::Network;
use lab::probes::Subject;
use plan::{Amount, Environment, Launch, OwnData, Peer, Pin, Plan, Proxy, Study};
use progress::Stream;

use crate::cores::Cores;
use crate::instruments;
use crate::prepare::Refusal;
use crate::recipe;
use crate::run_error::RunError;
use crate::systems::{Lab, Room, StartedSystem};
use crate::tools::Tools;

/// Variant with all texts filled in. Its folder is removed on drop.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) launch: Launch,
    peer: Peer,
    room: Room,
    /// Network of the system's separate host. `None` if it has none.
    network: Option<Network>,
    cores: Vec<usize>,
    tenbin: PathBuf,
    /// Folder in which runtimes of the system write about themselves. `None` if the run is not instrumented.
    instruments: Option<PathBuf>,
    /// Output of the version command, once it ran.
    version: OnceCell<Option<String>>,
    /// Key of the prepared data that the variant can use: system and parameters.
    pub(crate) data_key: String,
    /// Whether the study has several runs of each variant.
    pub(crate) is_repeated: bool,
}

impl Stage {
    /// Allocates ports and a folder, and fills in every text, including the load. `amount` replaces the level of the load.
    pub(crate) fn set(
        lab: &dyn Lab,
        study: &Study,
        variant: usize,
        load: usize,
        amount: Option<&Amount>,
        tenbin: &Path,
        cores: &Cores,
    ) -> Result<(Plan, Self), RunError> {
        let names = study.ports(variant);
        let mut room = lab.room(names.len())?;
        let named: Vec<(String, u16)> = names.into_iter().zip(room.ports.iter().copied()).collect();
        let host = &study.systems[study.variants[variant].system].host;
        let network = host.as_ref().map(|_| lab.network()).transpose()?;
        let host = network.map_or(Ipv4Addr::LOCALHOST, |network| network.there);
        let launch = study.launch(variant, &Environment { ports: &named, dir: room.dir(), tenbin, host });
        let plan = plan(study, &launch, load, amount, cores)?;
        room.ports = with_port_of(&plan.front, room.ports);
        let (peer, cores, tenbin) = (plan.front.clone(), cores.system.clone(), tenbin.to_path_buf());
        let version = OnceCell::new();
        let is_shared = launch.tables.as_ref().is_some_and(|tables| tables.share);
        let data_key = match is_shared {
            true => launch.system.clone(),
            false => format!("{} {:?}", launch.system, study.variants[variant].knobs),
        };
        let is_repeated = study.compare.blocks > 1 || study.loads.len() > 1;
        let instruments = None;
        let stage =
            Self { launch, peer, room, network, cores, tenbin, instruments, version, data_key, is_repeated };
        Ok((plan, stage))
    }

    /// Plan of another load on this system.
    pub(crate) fn plan(&self, study: &Study, load: usize, cores: &Cores) -> Result<Plan, RunError> {
        plan(study, &self.launch, load, None, cores)
    }

    /// Command that runs processes of the run.
    pub(crate) fn keeper(&self) -> Vec<OsString> {
        recipe::keeper(&self.tenbin)
    }

    /// Starts the system with instruments in its runtimes.
    pub(crate) fn instrument(&mut self) {
        self.instruments = Some(instruments::add(&mut self.launch, self.room.dir()));
    }

    /// Whether the system reports on itself in this run.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.instruments.is_some()
    }

    /// Name of the system and variant, for display.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.launch.system, self.launch.variant).trim_end().to_owned()
    }

    pub(crate) fn recipe(&self) -> lab::Recipe {
        let recipe = recipe::recipe(
            &self.launch,
            &self.peer,
            self.room.dir(),
            &self.room.ports,
            &self.cores,
            &self.tenbin,
        );
        lab::Recipe { network: self.network, ..recipe }
    }

    /// Recipe for the events of a system that is already running: commands only.
    pub(crate) fn recipe_of_events(&self) -> lab::Recipe {
        lab::Recipe { ports: Vec::new(), ..self.recipe() }
    }

    /// Subject of the probes.
    pub(crate) fn subject(&self, system: &dyn StartedSystem) -> Subject {
        let (aside, roots): (Vec<_>, Vec<_>) = system.roots().into_iter().partition(|root| root.is_aside);
        let named = |roots: Vec<Root>| roots.into_iter().map(|root| (root.name, root.keeper_pid)).collect();
        let proxies: Vec<&Proxy> =
            self.launch.processes.iter().filter_map(|process| process.proxy.as_ref()).collect();
        let is_proxys = |port: &u16| proxies.iter().any(|proxy| proxy.port == Some(*port));
        let mut unix_sockets = sockets_in(self.room.dir());
        unix_sockets.retain(|socket| proxies.iter().all(|proxy| proxy.control != *socket));
        if let Some(socket) = self.launch.socket.as_ref().filter(|socket| !unix_sockets.contains(socket)) {
            unix_sockets.push(socket.clone());
        }
        let limits = system.limits();
        let served = self.peer.unix_socket.is_none().then_some(self.peer.port);
        // Follows at most one step per proxy, because proxies could form a cycle.
        let behind = |port: Option<u16>, _: &&Proxy| {
            let proxy = proxies.iter().find(|proxy| port.is_some() && proxy.port == port);
            proxy.map_or(port, |proxy| proxy.to_port)
        };
        let entry = proxies.iter().fold(served, behind).filter(|_| self.network.is_none());
        // Sockets in another network are invisible from this one.
        let is_seen = |port: &u16| self.network.is_none() && !is_proxys(port);
        let ports = self.room.ports.iter().copied().filter(is_seen).collect();
        let (roots, aside) = (named(roots), named(aside));
        let instruments = self.instruments.clone();
        let sockets = Subject { ports, served, entry, unix_sockets, ..Subject::default() };
        Subject { roots, aside, limits, instruments, ..sockets }
    }

    /// First line of the version command's output. `None` if there is no command, or if it failed.
    pub(crate) fn version(&self, lab: &dyn Lab, cancelled: &dyn Fn() -> bool) -> Option<String> {
        let first_line = || {
            let command = recipe::version(self.launch.version.as_ref()?);
            lab.first_line(&command, &recipe::keeper(&self.tenbin), cancelled)
        };
        self.version.get_or_init(first_line).clone()
    }

    /// Error for a system that is no longer running although its block continues.
    pub(crate) fn died_between_slices(&self) -> lab::Failure {
        lab::Failure {
            stage: lab::Stage::Died,
            process: None,
            what: format!("{} did not stay up between slices", self.name()),
            way_out: "look at the output of the system in the slice before".to_owned(),
            outputs: Vec::new(),
        }
    }

    /// Creates the tables that the plan defines.
    pub(crate) fn fill(&self, tools: &Tools<'_>, plan: &Plan, stream: &Stream) -> Result<(), Failure> {
        self.fill_with(tools, plan, self.launch.own_data.as_ref(), stream)
    }

    /// Like [`Self::fill`], for tables that an earlier run of the study created.
    pub(crate) fn fill_again(&self, tools: &Tools<'_>, plan: &Plan, stream: &Stream) -> Result<(), Failure> {
        let own = self.launch.own_data.clone().map(|own| OwnData { drop: true, ..own });
        self.fill_with(tools, plan, own.as_ref(), stream)
    }

    fn fill_with(
        &self,
        tools: &Tools<'_>,
        plan: &Plan,
        own: Option<&OwnData>,
        stream: &Stream,
    ) -> Result<(), Failure> {
        let loaded = || {
            if let Some(tables) = &self.launch.tables {
                tools.generator.load_data(plan, tables, tools.stopper, stream)?;
            }
            if let Some(own) = own {
                tools.generator.load_own_data(plan, own, tools.stopper, stream)?;
            }
            match &self.launch.records {
                Some(records) => {
                    let system = self.launch.running_system();
                    tools.generator.load_records(records, &system, tools.stopper, stream)
                }
                None => Ok(()),
            }
        };
        loaded().map_err(|error| failure(self.starts_processes(), "prepare", error.to_string()))
    }

    /// Folder of the system.
    pub(crate) fn dir(&self) -> &Path {
        self.room.dir()
    }

    /// Ports of the system.
    pub(crate) fn ports(&self) -> &[u16] {
        &self.room.ports
    }

    /// Whether the run starts processes, or runs commands before and after it.
    pub(crate) fn starts_anything(&self) -> bool {
        self.starts_processes() || !self.launch.before.is_empty() || !self.launch.after.is_empty()
    }

    /// Whether the run starts the system. If not, the system is already running.
    pub(crate) fn starts_processes(&self) -> bool {
        !self.launch.processes.is_empty()
    }
}

fn plan(
    study: &Study,
    launch: &Launch,
    load: usize,
    amount: Option<&Amount>,
    cores: &Cores,
) -> Result<Plan, RunError> {
    let plan = match amount {
        None => study.plan(load, launch),
        Some(amount) => study.plan_at(load, launch, amount),
    };
    let mut plan = plan.map_err(RunError::Plan)?;
    if !cores.generator.is_empty() {
        plan.pin = Pin::Cores(cores.generator.clone());
    }
    Ok(plan)
}

/// Failure of a system before its load. `stage` is the name of the stage.
pub(crate) fn failure(starts_processes: bool, stage: &str, what: String) -> Failure {
    let way_out = match (stage, starts_processes) {
        ("threads", _) => {
            "see how many processes the system starts, and raise the limit of processes (ulimit -u)"
        }
        ("prepare", false) => "see whether it runs, and correct url and prepare in the plan",
        ("prepare", true) => "look at the output of the system, and at url and prepare in the plan",
        (_, false) => "see whether it runs, and correct url in the plan",
        (_, true) => "look at the output of the system, and at url and ready in the plan",
    };
    let (what, help) = plan::split_help(&what);
    // The output of a system that Tenbin started has more details.
    let way_out = help.filter(|_| !starts_processes).unwrap_or(way_out);
    Failure { stage: stage.to_owned(), process: None, what: what.to_owned(), way_out: way_out.to_owned() }
}

/// Failure of a run in which `setup` failed.
pub(crate) fn setup_failure(refusal: &Refusal) -> Failure {
    let (what, help) = (refusal.to_string(), "correct `setup` in the plan, or see what the system says");
    let (what, own) = plan::split_help(&what);
    Failure {
        stage: "setup".to_owned(),
        process: None,
        what: what.to_owned(),
        way_out: own.unwrap_or(help).to_owned(),
    }
}

/// Failure of the lab, in the form of the store.
pub(crate) fn kept(failure: &lab::Failure) -> Failure {
    Failure {
        stage: failure.stage.word().to_owned(),
        process: failure.process.as_deref().map(plan::mask_secrets),
        // The failure may quote a command.
        what: plan::mask_secrets(&failure.what),
        way_out: failure.way_out.clone(),
    }
}

/// Adds the port of the URL, which must be free before the start: otherwise the load would reach another process.
fn with_port_of(peer: &Peer, mut ports: Vec<u16>) -> Vec<u16> {
    let is_here = matches!(peer.host.as_str(), "127.0.0.1" | "localhost");
    if is_here && peer.unix_socket.is_none() && !ports.contains(&peer.port) {
        ports.push(peer.port);
    }
    ports
}

/// Sockets that the processes of a system created in its folder, to communicate with each other.
fn sockets_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_port_of_the_url_must_be_free() {
        let peer = |host: &str, port| Peer {
            host: host.to_owned(),
            port,
            addresses: Vec::new(),
            unix_socket: None,
            tls: None,
            certificate: None,
            resumes_tls: false,
            access: wire::step::Access::none(),
        };
        assert_eq!(with_port_of(&peer("127.0.0.1", 8080), vec![20_001]), [20_001, 8080]);
        assert_eq!(with_port_of(&peer("localhost", 8080), Vec::new()), [8080]);
        assert_eq!(with_port_of(&peer("127.0.0.1", 20_001), vec![20_001]), [20_001]);
        assert_eq!(with_port_of(&peer("10.0.0.1", 8080), Vec::new()), [0; 0], "another machine's");
        let by_socket = Peer { unix_socket: Some("/run/x".into()), ..peer("localhost", 80) };
        assert_eq!(with_port_of(&by_socket, Vec::new()), [0; 0]);
    }
}
