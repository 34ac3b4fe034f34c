//! PostgreSQL URLs. Parameters, environment variables, and defaults match libpq.

pub(super) mod connection_string;
pub(super) mod parameters;
mod service;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use sql::Engine;
use wire::sql::{Attempt, ChannelBinding, InsecureAuth, Login, Secret, ServerRole, TlsMode};

use super::parameters::{check, find};
use super::pgpass::{self, PassfileEntry, PasswordQuery};
use super::written::{UrlParts, read_port};
use super::{Balance, ClientEnvironment, Database, add_tls, plain_peer, shown};
use crate::endpoint::{Peer, Trust};
use crate::fault::Fault;
use parameters::PARAMETERS;
use service::Service;

const SECONDS_MAX: u64 = 86_400;
/// Default `application_name`.
const APPLICATION_NAME: &str = "tenbin";
/// Folders where servers put their sockets.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Values of parameters from all sources: the URL, the service that it names, and the environment.
struct ParameterValues<'a> {
    written: &'a UrlParts,
    service: Service,
    environment: &'a ClientEnvironment<'a>,
}

impl<'a> ParameterValues<'a> {
    fn read(written: &'a UrlParts, environment: &'a ClientEnvironment<'a>, faults: &mut Vec<Fault>) -> Self {
        written.check_parameters(PARAMETERS, faults);
        let mut given = Self { written, service: Service::new(), environment };
        let Some(name) = given.value("service") else { return given };
        match service::look_up(&name, given.value("servicefile").as_deref(), environment) {
            Ok(service) => given.service = service,
            Err((what, help)) => written.wrong(what, &help, faults),
        }
        let pairs = given.service.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        check(PARAMETERS, pairs, &format!("service {name:?}"), faults);
        given
    }

    /// Value of a parameter. `None` if no source has it.
    fn value(&self, name: &str) -> Option<String> {
        self.url_or_service_value(name).or_else(|| self.environment_value(name))
    }

    /// Value of a parameter that is also a part of the URL. `None` if no source has it.
    fn value_or_part(&self, name: &str, part: Option<&str>) -> Option<String> {
        let parameter = self.written.parameter(name).or(part).map(str::to_owned);
        parameter.or_else(|| self.service_value(name)).or_else(|| self.environment_value(name))
    }

    fn url_or_service_value(&self, name: &str) -> Option<String> {
        self.written.parameter(name).map(str::to_owned).or_else(|| self.service_value(name))
    }

    fn service_value(&self, name: &str) -> Option<String> {
        self.service.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn environment_value(&self, name: &str) -> Option<String> {
        self.environment.variable(find(PARAMETERS, name)?.variable?)
    }

    /// Error for a value that is none of the known ones.
    fn report_wrong_value(&self, name: &str, value: &str, known: &str, faults: &mut Vec<Fault>) {
        self.written.wrong(format!("invalid {name}: {value:?}"), &format!("write {known}"), faults);
    }
}

pub(super) fn read(
    written: &UrlParts,
    environment: &ClientEnvironment<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Database> {
    let given = ParameterValues::read(written, environment, faults);
    let mut peers = peers(&given, faults);
    let user = given.value_or_part("user", written.user.as_deref()).or_else(|| environment.user());
    let Some(user) = user else {
        written.wrong("no user in the URL", "write postgres://USER@HOST/DATABASE", faults);
        return None;
    };
    let database = given.value_or_part("dbname", written.database.as_deref()).unwrap_or_else(|| user.clone());
    let password = password(&given, peers.first()?, &database, &user, faults);
    let Tls { wish, trust, is_allowed_only } = tls(&given, faults);
    let is_tls_direct = is_tls_direct(&given, wish, faults);
    let files = ["sslcert", "sslkey"].map(|name| (name, given.value(name)));
    let certificate = written.certificate(files, faults);
    add_tls(&mut peers, trust.as_ref(), certificate.as_ref());
    let weak = weak(&given.value("require_auth").unwrap_or_default(), written, faults);
    let are_all_local = peers.iter().all(|peer| peer.unix_socket.is_some());
    let (attempts, balance) = attempts(&given, &peers, wish, is_allowed_only, faults);
    let seconds = given.value("connect_timeout");
    Some(Database {
        engine: Engine::PostgreSql,
        shown: shown("postgres", &peers, &database),
        login: Login {
            user,
            password,
            database: Some(database),
            settings: settings(&given),
            tls: if are_all_local { TlsMode::No } else { wish },
            weak: if are_all_local { InsecureAuth::ALL } else { weak },
            is_tls_direct: is_tls_direct && !are_all_local,
            channel_binding: channel_binding(&given, faults),
            attempts,
            ..Login::default()
        },
        peers,
        file: None,
        connect_timeout_ns: seconds.and_then(|text| timeout_ns(&text, written, faults)),
        balance,
    })
}

/// Settings of the session.
fn settings(given: &ParameterValues<'_>) -> Vec<(String, String)> {
    let name = given.value("application_name").or_else(|| given.value("fallback_application_name"));
    let name = name.unwrap_or_else(|| APPLICATION_NAME.to_owned());
    let mut settings = vec![("application_name".to_owned(), name)];
    settings.extend(given.value("options").map(|options| ("options".to_owned(), options)));
    settings
}

fn password(
    given: &ParameterValues<'_>,
    peer: &Peer,
    database: &str,
    user: &str,
    faults: &mut Vec<Fault>,
) -> Option<Secret> {
    let part = given.written.password.as_ref().map(|secret| secret.0.as_str());
    let file = given.value("passfile").map(PathBuf::from);
    let file = file.or_else(|| Some(Path::new(&given.environment.variable("HOME")?).join(".pgpass")));
    given
        .value_or_part("password", part)
        .map(Secret)
        .or_else(|| password_from_file(file.as_deref()?, peer, database, user, given.written, faults))
}

/// Ways to open a connection, in order, and the balance of connections over the hosts. Both are empty if there is one way only.
fn attempts(
    given: &ParameterValues<'_>,
    peers: &[Peer],
    tls: TlsMode,
    is_tls_allowed_only: bool,
    faults: &mut Vec<Fault>,
) -> (Vec<Attempt>, Option<Balance>) {
    let roles: &[ServerRole] = match given.value("target_session_attrs").as_deref() {
        None | Some("any") => &[ServerRole::Any],
        Some("read-write") => &[ServerRole::ReadWrite],
        Some("read-only") => &[ServerRole::ReadOnly],
        Some("primary") => &[ServerRole::Primary],
        Some("standby") => &[ServerRole::Standby],
        // All servers are first tried as standbys, and then once more.
        Some("prefer-standby") => &[ServerRole::Standby, ServerRole::Any],
        Some(other) => {
            let known = "any, read-write, read-only, primary, standby, or prefer-standby";
            given.report_wrong_value("target_session_attrs", other, known, faults);
            &[ServerRole::Any]
        }
    };
    let is_balanced = match given.value("load_balance_hosts").as_deref() {
        None | Some("disable") => false,
        Some("random") => true,
        Some(other) => {
            given.report_wrong_value("load_balance_hosts", other, "disable or random", faults);
            false
        }
    };
    let ways = if is_tls_allowed_only { 2 } else { 1 };
    let attempt = |role: ServerRole, (host, peer): (usize, &Peer), way: usize| {
        let tls = match is_tls_allowed_only {
            _ if peer.unix_socket.is_some() => TlsMode::No,
            true if way == 0 => TlsMode::No,
            true => TlsMode::Required,
            false => tls,
        };
        Attempt { host: host as u16, tls, role, has_fallback: way + 1 < ways }
    };
    let all = roles.iter().flat_map(|role| {
        peers.iter().enumerate().flat_map(move |peer| (0..ways).map(move |way| attempt(*role, peer, way)))
    });
    let attempts: Vec<Attempt> = all.collect();
    if attempts.len() == 1 && roles == [ServerRole::Any] {
        return (Vec::new(), None);
    }
    let (width, stride) = ((peers.len() * ways) as u16, ways as u16);
    (attempts, is_balanced.then_some(Balance { width, stride }))
}

fn channel_binding(given: &ParameterValues<'_>, faults: &mut Vec<Fault>) -> ChannelBinding {
    match given.value("channel_binding").as_deref() {
        Some("disable") => ChannelBinding::Disable,
        None | Some("prefer") => ChannelBinding::Prefer,
        Some("require") => ChannelBinding::Require,
        Some(other) => {
            given.report_wrong_value("channel_binding", other, "disable, prefer, or require", faults);
            ChannelBinding::Prefer
        }
    }
}

/// Whether TLS starts right after connecting. As in libpq, this requires a mode that enforces TLS.
fn is_tls_direct(given: &ParameterValues<'_>, tls: TlsMode, faults: &mut Vec<Fault>) -> bool {
    match given.value("sslnegotiation").as_deref() {
        None | Some("postgres") => false,
        Some("direct") if tls == TlsMode::Required => true,
        Some("direct") => {
            let what = "sslnegotiation=direct needs TLS";
            given.written.wrong(what, "write sslmode=require, verify-ca, or verify-full", faults);
            false
        }
        Some(other) => {
            given.report_wrong_value("sslnegotiation", other, "postgres or direct", faults);
            false
        }
    }
}

/// Hosts from the URL, its parameters, the service, or the environment; otherwise the local server.
fn peers(given: &ParameterValues<'_>, faults: &mut Vec<Fault>) -> Vec<Peer> {
    let written = given.written;
    let listed = |text: String| text.split(',').map(|host| Some(host.to_owned())).collect::<Vec<_>>();
    let written_hosts: Vec<Option<String>> = written.hosts.iter().map(|(host, _)| host.clone()).collect();
    let hosts = match written.parameter("host") {
        Some(hosts) => listed(hosts.to_owned()),
        None if written_hosts.iter().all(Option::is_none) => given.value("host").map_or(vec![None], listed),
        None => written_hosts,
    };
    let addresses = addresses(given, faults);
    // Addresses alone are hosts, too.
    let hosts = match hosts.as_slice() {
        [None] if !addresses.is_empty() => {
            addresses.iter().map(|address| Some(address.to_string())).collect()
        }
        _ => hosts,
    };
    if !addresses.is_empty() && addresses.len() != hosts.len() {
        written.wrong(
            "the numbers of hosts and of hostaddr differ",
            "write one address for each host",
            faults,
        );
    }
    let mut ports: Vec<Option<u16>> = written.hosts.iter().map(|(_, port)| *port).collect();
    let has_port = !ports.iter().all(Option::is_none);
    let further = written.parameter("port").map(str::to_owned);
    let further = further.or_else(|| given.value("port").filter(|_| !has_port));
    if let Some(text) = further {
        ports = text.split(',').map(|port| read_port(port, &written.shown, faults)).collect();
    }
    if ports.len() > 1 && ports.len() != hosts.len() {
        written.wrong(
            "the numbers of ports and hosts differ",
            "write one port, or one for each host",
            faults,
        );
    }
    let hosts = hosts.into_iter().enumerate();
    hosts
        .map(|(number, host)| {
            let port = ports.get(number).or(ports.first()).copied().flatten().unwrap_or(wire::postgres::PORT);
            let peer = match host.filter(|host| !host.is_empty()) {
                Some(folder) if folder.starts_with('/') => socket_peer(&folder, port),
                Some(host) => plain_peer(host, port),
                None => local_peer(port),
            };
            Peer { addresses: addresses.get(number).copied().into_iter().collect(), ..peer }
        })
        .collect()
}

/// Addresses instead of the resolution of host names. Empty if there are none.
fn addresses(given: &ParameterValues<'_>, faults: &mut Vec<Fault>) -> Vec<IpAddr> {
    let Some(text) = given.value("hostaddr") else { return Vec::new() };
    let addresses: Option<Vec<IpAddr>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    addresses.unwrap_or_else(|| {
        given.report_wrong_value(
            "hostaddr",
            &text,
            "numeric addresses such as 10.0.0.1, one for each host",
            faults,
        );
        Vec::new()
    })
}

fn socket_peer(folder: &str, port: u16) -> Peer {
    let path = Path::new(folder).join(format!(".s.PGSQL.{port}"));
    Peer { unix_socket: Some(path), ..plain_peer("localhost".to_owned(), port) }
}

/// The local server, over its Unix socket if there is one.
fn local_peer(port: u16) -> Peer {
    let socket = |folder: &&&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    match SOCKET_FOLDERS.iter().find(socket) {
        Some(folder) => socket_peer(folder, port),
        None => plain_peer("localhost".to_owned(), port),
    }
}

fn password_from_file(
    path: &Path,
    peer: &Peer,
    database: &str,
    user: &str,
    written: &UrlParts,
    faults: &mut Vec<Fault>,
) -> Option<Secret> {
    // As in libpq, a socket in the default folder counts as `localhost`; any other socket is identified by its folder.
    let folder =
        peer.unix_socket.as_ref().and_then(|path| Some(path.parent()?.to_string_lossy().into_owned()));
    let host = folder.filter(|folder| !SOCKET_FOLDERS.contains(&folder.as_str()));
    let host = host.unwrap_or_else(|| peer.host.clone());
    match pgpass::look_up(path, &PasswordQuery { host: &host, port: peer.port, database, user }) {
        PassfileEntry::Password(password) => Some(password),
        PassfileEntry::Nothing => None,
        PassfileEntry::Exposed => {
            let what = format!("the password would come from {}, which others may read", path.display());
            written.wrong(what, &format!("chmod 600 {}", path.display()), faults);
            None
        }
    }
}

/// Use of TLS according to `sslmode`.
struct Tls {
    wish: TlsMode,
    /// `None` if TLS is never used.
    trust: Option<Trust>,
    /// Whether TLS is used only if the log-in without it is rejected.
    is_allowed_only: bool,
}

fn tls(given: &ParameterValues<'_>, faults: &mut Vec<Fault>) -> Tls {
    let own = || {
        let path = Path::new(&given.environment.variable("HOME")?).join(".postgresql/root.crt");
        path.exists().then_some(path)
    };
    let root = given.value("sslrootcert");
    let file = match root.as_deref() {
        Some("system") => None,
        Some(path) => Some(PathBuf::from(path)),
        None => own(),
    };
    // As in libpq, URLs written for JDBC may use `ssl=true`.
    let by_jdbc = given.url_or_service_value("ssl").map(|_| "require".to_owned());
    let mode =
        given.url_or_service_value("sslmode").or(by_jdbc).or_else(|| given.environment_value("sslmode"));
    let of = |wish, trust| Tls { wish, trust, is_allowed_only: false };
    match mode.as_deref().unwrap_or("prefer") {
        "disable" => of(TlsMode::No, None),
        "allow" => Tls { is_allowed_only: true, ..of(TlsMode::IfOffered, Some(Trust::Anything)) },
        "prefer" => of(TlsMode::IfOffered, Some(Trust::Anything)),
        // As in libpq, certificates are checked if a root certificate file is given.
        "require" => {
            of(TlsMode::Required, Some(file.map_or(Trust::Anything, |file| Trust::AnyName(Some(file)))))
        }
        "verify-ca" => of(TlsMode::Required, Some(Trust::AnyName(file))),
        "verify-full" => of(TlsMode::Required, Some(file.map_or(Trust::System, Trust::Authorities))),
        other => {
            let known = "disable, allow, prefer, require, verify-ca or verify-full";
            given.report_wrong_value("sslmode", other, known, faults);
            of(TlsMode::No, None)
        }
    }
}

/// Weak authentication methods among those that are listed. Strong methods are always allowed.
fn weak(named: &str, written: &UrlParts, faults: &mut Vec<Fault>) -> InsecureAuth {
    let mut weak = InsecureAuth::default();
    for name in named.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            "password" => weak.clear = true,
            "md5" => weak.md5 = true,
            "scram-sha-256" | "none" => {}
            // Excluding a weak method changes nothing, because weak methods are used only if they are listed.
            "!password" | "!md5" | "!gss" | "!sspi" | "!oauth" => {}
            "gss" | "sspi" | "oauth" => {
                let what =
                    format!("require_auth={name} is not supported: log-ins are by password or certificate");
                written.wrong(what, "write scram-sha-256, or remove it", faults);
            }
            other => {
                let what = format!("invalid require_auth: {other:?}");
                let help = "write password, md5, scram-sha-256 or none, or several with commas between them";
                written.wrong(what, help, faults);
            }
        }
    }
    weak
}

/// Timeout in whole seconds. 0 means no limit.
fn timeout_ns(text: &str, written: &UrlParts, faults: &mut Vec<Fault>) -> Option<u64> {
    match text.trim().parse::<u64>() {
        Ok(0) => None,
        Ok(seconds) if seconds <= SECONDS_MAX => Some(seconds * 1_000_000_000),
        _ => {
            let what = format!("invalid connect_timeout: {text:?}");
            written.wrong(what, "write whole seconds, such as connect_timeout=5", faults);
            None
        }
    }
}
