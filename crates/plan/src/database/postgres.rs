//! URLs of PostgreSQL. Parameters, environment variables, and defaults are those of libpq.

use std::path::{Path, PathBuf};

use sql::Engine;
use wire::sql::{Login, Secret, TlsWish, Weak};

use super::pgpass::{self, PassfileEntry, PasswordQuery};
use super::written::{Written, read_port};
use super::{ClientEnvironment, Database, in_the_clear, shown, with_tls};
use crate::endpoint::{Peer, Trust};
use crate::fault::Fault;

const SECONDS_MAX: u64 = 86_400;
/// Default `application_name`.
const APPLICATION: &str = "tenbin";
/// Folders where servers put their sockets.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

const PARAMETERS: [&str; 14] = [
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "application_name",
    "connect_timeout",
    "options",
    "passfile",
    "require_auth",
];

pub(super) fn read(
    written: &Written,
    environment: &ClientEnvironment<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Database> {
    written.only(&PARAMETERS, faults);
    let given = |parameter: &str, variable: &str| {
        written.parameter(parameter).map(str::to_owned).or_else(|| environment.variable(variable))
    };
    let of_url = |parameter: &str, part: &Option<String>| {
        written.parameter(parameter).map(str::to_owned).or_else(|| part.clone())
    };
    let mut peers = peers(written, environment, faults);
    let user = of_url("user", &written.user)
        .or_else(|| environment.variable("PGUSER"))
        .or_else(|| environment.user());
    let Some(user) = user else {
        written.wrong("no user in the URL", "write postgres://USER@HOST/DATABASE", faults);
        return None;
    };
    let database = of_url("dbname", &written.database).or_else(|| environment.variable("PGDATABASE"));
    let database = database.unwrap_or_else(|| user.clone());
    let file = given("passfile", "PGPASSFILE").map(PathBuf::from);
    let file = file.or_else(|| Some(Path::new(&environment.variable("HOME")?).join(".pgpass")));
    let password = written.parameter("password").map(|text| Secret(text.to_owned()));
    let password = password
        .or_else(|| written.password.clone())
        .or_else(|| environment.variable("PGPASSWORD").map(Secret))
        .or_else(|| from_file(file.as_deref()?, peers.first()?, &database, &user, written, faults));
    let (tls, trust) = tls(written, environment, faults);
    let given = |parameter: &str, variable: &str| {
        written.parameter(parameter).map(str::to_owned).or_else(|| environment.variable(variable))
    };
    let files = [("sslcert", given("sslcert", "PGSSLCERT")), ("sslkey", given("sslkey", "PGSSLKEY"))];
    let certificate = written.certificate(files, faults);
    with_tls(&mut peers, trust.as_ref(), certificate.as_ref());
    let named = given("require_auth", "PGREQUIREAUTH").unwrap_or_default();
    let weak = weak(&named, written, faults);
    let is_all_here = peers.iter().all(|peer| peer.unix_socket.is_some());
    let name = given("application_name", "PGAPPNAME").unwrap_or_else(|| APPLICATION.to_owned());
    let mut settings = vec![("application_name".to_owned(), name)];
    settings.extend(given("options", "PGOPTIONS").map(|options| ("options".to_owned(), options)));
    let seconds = given("connect_timeout", "PGCONNECT_TIMEOUT");
    Some(Database {
        engine: Engine::PostgreSql,
        shown: shown("postgres", &peers, &database),
        login: Login {
            user,
            password,
            database: Some(database),
            settings,
            tls: if is_all_here { TlsWish::No } else { tls },
            weak: if is_all_here { Weak::ALL } else { weak },
            stretcher: None,
        },
        peers,
        file: None,
        connect_timeout_ns: seconds.and_then(|text| timeout_ns(&text, written, faults)),
    })
}

/// Hosts from the URL, its parameters, or the environment; otherwise the local server.
fn peers(written: &Written, environment: &ClientEnvironment<'_>, faults: &mut Vec<Fault>) -> Vec<Peer> {
    let listed = |text: String| text.split(',').map(|host| Some(host.to_owned())).collect::<Vec<_>>();
    let written_hosts: Vec<Option<String>> = written.hosts.iter().map(|(host, _)| host.clone()).collect();
    let hosts = match written.parameter("host") {
        Some(hosts) => listed(hosts.to_owned()),
        None if written_hosts.iter().all(Option::is_none) => {
            environment.variable("PGHOST").map_or(vec![None], listed)
        }
        None => written_hosts,
    };
    let mut given: Vec<Option<u16>> = written.hosts.iter().map(|(_, port)| *port).collect();
    let further = written.parameter("port").map(str::to_owned);
    let further =
        further.or_else(|| environment.variable("PGPORT").filter(|_| given.iter().all(Option::is_none)));
    if let Some(text) = further {
        given = text.split(',').map(|port| read_port(port, &written.shown, faults)).collect();
    }
    if given.len() > 1 && given.len() != hosts.len() {
        written.wrong(
            "the numbers of ports and hosts differ",
            "write one port, or one for each host",
            faults,
        );
    }
    let hosts = hosts.into_iter().enumerate();
    hosts
        .map(|(number, host)| {
            let port = given.get(number).or(given.first()).copied().flatten().unwrap_or(wire::postgres::PORT);
            match host.filter(|host| !host.is_empty()) {
                Some(folder) if folder.starts_with('/') => by_socket(&folder, port),
                Some(host) => in_the_clear(host, port),
                None => local(port),
            }
        })
        .collect()
}

fn by_socket(folder: &str, port: u16) -> Peer {
    let path = Path::new(folder).join(format!(".s.PGSQL.{port}"));
    Peer { unix_socket: Some(path), ..in_the_clear("localhost".to_owned(), port) }
}

/// The local server, over its Unix socket if there is one.
fn local(port: u16) -> Peer {
    let socket = |folder: &&&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    match SOCKET_FOLDERS.iter().find(socket) {
        Some(folder) => by_socket(folder, port),
        None => in_the_clear("localhost".to_owned(), port),
    }
}

fn from_file(
    path: &Path,
    peer: &Peer,
    database: &str,
    user: &str,
    written: &Written,
    faults: &mut Vec<Fault>,
) -> Option<Secret> {
    // As in libpq, a socket in the default folder counts as `localhost`; any other is known by its folder.
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

fn tls(
    written: &Written,
    environment: &ClientEnvironment<'_>,
    faults: &mut Vec<Fault>,
) -> (TlsWish, Option<Trust>) {
    let given = |parameter: &str, variable: &str| {
        written.parameter(parameter).map(str::to_owned).or_else(|| environment.variable(variable))
    };
    let own = || {
        let path = Path::new(&environment.variable("HOME")?).join(".postgresql/root.crt");
        path.exists().then_some(path)
    };
    let root = given("sslrootcert", "PGSSLROOTCERT");
    let file = match root.as_deref() {
        Some("system") => None,
        Some(path) => Some(PathBuf::from(path)),
        None => own(),
    };
    let mode = given("sslmode", "PGSSLMODE");
    match mode.as_deref().unwrap_or("prefer") {
        "disable" => (TlsWish::No, None),
        "prefer" => (TlsWish::IfOffered, Some(Trust::Anything)),
        // As in libpq, certificates are checked if a file of authorities is given.
        "require" => {
            (TlsWish::Required, Some(file.map_or(Trust::Anything, |file| Trust::AnyName(Some(file)))))
        }
        "verify-ca" => (TlsWish::Required, Some(Trust::AnyName(file))),
        "verify-full" => (TlsWish::Required, Some(file.map_or(Trust::System, Trust::Authorities))),
        other => {
            let what = format!("invalid sslmode: {other:?}");
            let help = "write disable, prefer, require, verify-ca or verify-full";
            written.wrong(what, help, faults);
            (TlsWish::No, None)
        }
    }
}

/// Weak authentication methods among those that are listed. Strong methods are always allowed.
fn weak(named: &str, written: &Written, faults: &mut Vec<Fault>) -> Weak {
    let mut weak = Weak::default();
    for name in named.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            "password" => weak.clear = true,
            "md5" => weak.md5 = true,
            "scram-sha-256" | "none" => {}
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
fn timeout_ns(text: &str, written: &Written, faults: &mut Vec<Fault>) -> Option<u64> {
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
