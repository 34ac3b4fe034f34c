//! Converts the plan of a system to the recipe of the lab.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::limits::{DiskLimits, Limits};
use lab::{Signal, When};
use plan::{EventAction, Launch, LaunchCommand, LaunchEvent, LaunchProcess, Peer, ReadyWhen};

/// Time limit of a version command.
const VERSION_WITHIN: Duration = Duration::from_secs(20);

/// Running executable, even if its file was replaced or removed.
const RUNNING: &str = "/proc/self/exe";

/// Recipe for the start of one variant.
pub(crate) fn recipe(
    launch: &Launch,
    peer: &Peer,
    dir: &Path,
    ports: &[u16],
    cores: &[usize],
    tenbin: &Path,
) -> lab::Recipe {
    let within = Duration::from_nanos(launch.commands_within_ns);
    let name = match launch.variant.as_str() {
        "" => launch.system.clone(),
        variant => format!("{} {variant}", launch.system),
    };
    lab::Recipe {
        name,
        dir: dir.to_path_buf(),
        files: launch.files.clone(),
        contents: None,
        copy_to: None,
        before: launch.before.iter().map(|cmd| command(cmd, within)).collect(),
        after: launch.after.iter().map(|cmd| command(cmd, within)).collect(),
        processes: launch.processes.iter().map(|one| process(one, peer, launch.host)).collect(),
        ports: ports.to_vec(),
        cores: cores.to_vec(),
        limits: limits(&launch.limits),
        limits_to_come: limits_to_come(launch),
        network: None,
        disk_bytes: launch.disk_bytes,
        steady_within: steady_within(launch, tenbin),
        keeper: keeper(tenbin),
    }
}

/// Time limit of the wait until a system is steady: the longest one of its processes. This program's own servers and proxies are
/// steady as soon as they accept connections.
fn steady_within(launch: &Launch, tenbin: &Path) -> Option<Duration> {
    let is_own = |process: &&LaunchProcess| {
        process.command.argv.first().is_some_and(|program| Path::new(program) == tenbin)
    };
    let waited_for = launch.processes.iter().filter(|one| one.proxy.is_none() && !one.is_started_by_event);
    let waited_for = waited_for.filter(|process| !is_own(process));
    waited_for.filter_map(|process| process.ready.steady_within_ns).max().map(Duration::from_nanos)
}

/// Limits of a system that the kernel enforces.
pub(crate) fn limits(limits: &plan::Limits) -> Limits {
    Limits {
        cpu_cores: limits.cpu_millicores.map(|millicores| millicores as f64 / 1e3),
        cores: limits.cores.clone(),
        memory_bytes: limits.memory_bytes,
        disk: DiskLimits {
            read_bytes_per_s: limits.read_bytes_per_s,
            write_bytes_per_s: limits.write_bytes_per_s,
            reads_per_s: limits.reads_per_s,
            writes_per_s: limits.writes_per_s,
        },
    }
}

/// Limits that events will set.
pub(crate) fn limits_to_come(launch: &Launch) -> Vec<Limits> {
    let of_event = |event: &LaunchEvent| match &event.action {
        EventAction::Limit { limits: to_come, .. } => Some(limits(to_come)),
        _ => None,
    };
    launch.events.iter().filter_map(of_event).collect()
}

/// Hidden command that runs a process for Tenbin, and ends it when Tenbin exits.
pub(crate) fn keeper(tenbin: &Path) -> Vec<OsString> {
    // An update may replace the program's file during a study. The kernel still has the running one.
    let is_same = |meta: &Metadata| {
        fs::metadata(RUNNING).is_ok_and(|running| (running.dev(), running.ino()) == (meta.dev(), meta.ino()))
    };
    let is_in_place = fs::metadata(tenbin).is_ok_and(|meta| is_same(&meta));
    let program = if is_in_place { tenbin } else { Path::new(RUNNING) };
    vec![program.into(), "keep".into()]
}

/// Command that prints the version of a system.
pub(crate) fn version(cmd: &LaunchCommand) -> lab::Command {
    command(cmd, VERSION_WITHIN)
}

/// Command that runs to its end within a time limit.
pub(crate) fn command(cmd: &LaunchCommand, within: Duration) -> lab::Command {
    lab::Command { argv: cmd.argv.clone(), env: cmd.env.clone(), dir: cmd.dir.clone(), within }
}

fn process(process: &LaunchProcess, peer: &Peer, host: Ipv4Addr) -> lab::Process {
    let within = Duration::from_nanos(process.ready.within_ns);
    let address = |port: Option<u16>| address(port.unwrap_or_default(), peer, host);
    let when = match (&process.ready.when, process.ready.port) {
        (ReadyWhen::Get(path), port) => When::Get { address: address(port), path: path.clone() },
        (ReadyWhen::Tcp, Some(port)) => When::Tcp(address(Some(port))),
        (ReadyWhen::Tcp, None) => When::Now,
        (ReadyWhen::Unix(path), _) => When::Unix(PathBuf::from(path)),
        (ReadyWhen::Log(text), _) => When::Log(text.clone()),
        (ReadyWhen::Command(cmd), _) => When::Command(command(cmd, within)),
    };
    let stop = &process.stop;
    let stop_within = Duration::from_nanos(stop.within_ns);
    lab::Process {
        name: process.name.clone(),
        command: command(&process.command, within),
        ready: lab::Ready { when, within },
        stop: lab::StopHow {
            // The plan reader accepts only these names, so the fallback is never used.
            signal: Signal::named(&stop.signal).unwrap_or(Signal::TERM),
            command: stop.command.as_ref().map(|cmd| command(cmd, stop_within)),
            within: stop_within,
        },
        is_aside: process.proxy.is_some(),
        is_started_by_event: process.is_started_by_event,
    }
}

/// Address at which a port is expected to open. For the port of the URL, the address of the URL, such as `[::1]`. Else the address of the
/// host, which is 127.0.0.1 on this machine.
pub(crate) fn address(port: u16, peer: &Peer, host: Ipv4Addr) -> SocketAddr {
    let of_url = peer.host.parse::<IpAddr>().ok().filter(|_| port == peer.port);
    SocketAddr::new(of_url.unwrap_or(host.into()), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeper_is_the_running_executable() {
        let program = std::env::current_exe().unwrap();
        assert_eq!(keeper(&program), [program.as_os_str(), "keep".as_ref()]);
        for other in ["/bin/sh", "/nonexistent"] {
            assert_eq!(keeper(Path::new(other)), [RUNNING, "keep"], "gone, or another one by now");
        }
    }

    #[test]
    fn port_of_the_url_is_expected_at_its_address() {
        let peer = |host: &str| Peer {
            host: host.to_owned(),
            port: 80,
            addresses: Vec::new(),
            unix_socket: None,
            tls: None,
            certificate: None,
            resumes_tls: false,
            access: wire::step::Access::none(),
        };
        assert_eq!(address(80, &peer("::1"), Ipv4Addr::LOCALHOST).to_string(), "[::1]:80");
        assert_eq!(address(80, &peer("127.0.0.2"), Ipv4Addr::LOCALHOST).to_string(), "127.0.0.2:80");
        assert_eq!(address(81, &peer("::1"), Ipv4Addr::LOCALHOST).to_string(), "127.0.0.1:81");
        assert_eq!(address(80, &peer("localhost"), Ipv4Addr::LOCALHOST).to_string(), "127.0.0.1:80");
        let host = Ipv4Addr::new(10, 213, 0, 2);
        assert_eq!(address(81, &peer("127.0.0.1"), host).to_string(), "10.213.0.2:81", "behind a proxy");
    }
}
