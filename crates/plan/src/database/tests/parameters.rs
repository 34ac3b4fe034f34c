//! Connection parameters of the servers' clients: the effect of each, or the reason why it is rejected.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wire::sql::{ChannelBinding, Secret, ServerRole, TlsMode};

use super::super::parameters::{Parameter, Support};
use super::super::{Balance, Database, mysql, postgres};
use super::{read, try_read};

/// Parameters that `PQconndefaults` of libpq 18 lists, including the OAuth ones.
const LIBPQ: &str = "service servicefile user password passfile require_auth channel_binding connect_timeout dbname host hostaddr \
    port client_encoding options application_name fallback_application_name keepalives keepalives_idle keepalives_interval \
    keepalives_count tcp_user_timeout sslmode sslnegotiation sslcompression sslcert sslkey sslcertmode sslpassword sslrootcert \
    sslcrl sslcrldir sslsni requirepeer ssl_min_protocol_version ssl_max_protocol_version sslkeylogfile gssencmode krbsrvname \
    gsslib gssdelegation replication target_session_attrs load_balance_hosts scram_client_key scram_server_key oauth_issuer \
    oauth_client_id oauth_client_secret oauth_scope min_protocol_version max_protocol_version";

/// Connection options of `mysql --help` of MySQL 9 and MariaDB 10.11, and of URIs of MySQL Shell.
const MYSQL: &str = "host port user password database socket ssl-mode ssl-ca ssl-capath ssl-cert ssl-key ssl-crl ssl-crlpath \
    ssl-cipher ssl-fips-mode ssl-session-data tls-version tls-ciphersuites ssl ssl-verify-server-cert connect-timeout \
    default-character-set charset init-command get-server-public-key server-public-key-path enable-cleartext-plugin default-auth \
    auth-method plugin-dir protocol compress compression compression-algorithms compression-level zstd-compression-level \
    bind-address local-infile max-allowed-packet net-buffer-length reconnect secure-auth connection-attributes \
    shared-memory-base-name pipe";

#[test]
fn every_parameter_of_the_clients_is_in_the_tables() {
    let tables = [(LIBPQ, postgres::parameters::PARAMETERS), (MYSQL, mysql::parameters::PARAMETERS)];
    for (known, table) in tables {
        for name in known.split_whitespace() {
            assert!(table.iter().any(|parameter| parameter.name == name), "{name}");
        }
        for (place, parameter) in table.iter().enumerate() {
            assert!(!table[..place].iter().any(|other| other.name == parameter.name), "{}", parameter.name);
        }
    }
}

#[test]
fn unsupported_parameter_is_rejected_with_the_reason() {
    let tables = [
        ("postgres://u@h/d", postgres::parameters::PARAMETERS),
        ("mysql://u@h/d", mysql::parameters::PARAMETERS),
    ];
    for (url, table) in tables {
        for Parameter { name, support, .. } in table {
            match support {
                Support::Full => {}
                Support::NoEffect(_) => {
                    let database = read(&format!("{url}?{name}=1"), &[]);
                    assert_eq!(database, read(url, &[]), "{name} has an effect");
                }
                Support::Only(values, reason) => {
                    for value in *values {
                        try_read(&format!("{url}?{name}={value}"), &[]).unwrap();
                    }
                    let faults = try_read(&format!("{url}?{name}=other"), &[]).unwrap_err();
                    assert!(faults.contains(reason) && faults.contains(values[0]), "{faults}");
                }
                Support::Rejected(reason, help) => {
                    let faults = try_read(&format!("{url}?{name}=1"), &[]).unwrap_err();
                    assert!(faults.contains(reason) && faults.contains(help), "{faults}");
                }
            }
        }
    }
}

/// Part of a database that a parameter sets.
type Seen = fn(&Database) -> String;

#[test]
fn supported_parameter_of_postgres_has_its_effect() {
    let attempts: Seen = |database| {
        let attempts = database.login.attempts.iter();
        let shown = attempts.map(|attempt| {
            let tls = if attempt.tls == TlsMode::Required { "+tls" } else { "" };
            format!("{}:{}{tls}", attempt.host, attempt.role.name())
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    let peers: Seen = |database| super::places(database).join(" ");
    let addresses: Seen = |database| format!("{:?}", database.peers[0].addresses);
    let settings: Seen = |database| format!("{:?}", database.login.settings);
    let tls: Seen = |database| format!("{:?} {:?}", database.login.tls, database.peers[0].tls);
    let certificate: Seen = |database| format!("{:?}", database.peers[0].certificate);
    for (query, seen, expected) in [
        ("host=a,b&port=1,2", peers, "a:1 b:2"),
        ("host=a,b", attempts, "0:any 1:any"),
        ("hostaddr=10.0.0.1", peers, "10.0.0.1:5432"),
        ("host=a&hostaddr=10.0.0.1", addresses, "[10.0.0.1]"),
        ("dbname=x", |database| format!("{:?}", database.login.database), "Some(\"x\")"),
        ("user=x", |database| database.login.user.clone(), "x"),
        (
            "password=x",
            |database| (database.login.password == Some(Secret("x".to_owned()))).to_string(),
            "true",
        ),
        ("require_auth=md5", |database| database.login.weak.md5.to_string(), "true"),
        ("require_auth=!md5", |database| database.login.weak.md5.to_string(), "false"),
        ("connect_timeout=2", |database| format!("{:?}", database.connect_timeout_ns), "Some(2000000000)"),
        ("options=-c%20a%3D1", settings, r#"[("application_name", "tenbin"), ("options", "-c a=1")]"#),
        ("application_name=x&fallback_application_name=y", settings, r#"[("application_name", "x")]"#),
        ("fallback_application_name=y", settings, r#"[("application_name", "y")]"#),
        ("host=a,b&target_session_attrs=read-write", attempts, "0:read-write 1:read-write"),
        ("target_session_attrs=any", attempts, ""),
        ("target_session_attrs=primary", attempts, "0:primary"),
        ("target_session_attrs=read-only", attempts, "0:read-only"),
        ("host=a,b&target_session_attrs=prefer-standby", attempts, "0:standby 1:standby 0:any 1:any"),
        ("sslmode=disable", tls, "No None"),
        ("sslmode=allow", attempts, "0:any 0:any+tls"),
        ("host=a,b&sslmode=allow", attempts, "0:any 0:any+tls 1:any 1:any+tls"),
        ("sslmode=prefer", tls, "IfOffered Some(Anything)"),
        ("sslmode=require", tls, "Required Some(Anything)"),
        ("ssl=true", tls, "Required Some(Anything)"),
        ("sslmode=verify-full&sslrootcert=/ca", tls, "Required Some(Authorities(\"/ca\"))"),
        ("sslcert=/c&sslkey=/k", certificate, "Some(ClientCertificate { cert: \"/c\", key: Some(\"/k\") })"),
        (
            "sslnegotiation=direct&sslmode=require",
            |database| database.login.is_tls_direct.to_string(),
            "true",
        ),
        ("sslnegotiation=postgres", |database| database.login.is_tls_direct.to_string(), "false"),
    ] {
        let user = if query.contains("user=") { "" } else { "&user=u" };
        assert_eq!(seen(&read(&format!("postgres://?{query}{user}"), &[])), expected, "{query}");
    }
    let binding =
        |value: &str| read(&format!("postgres://u@h/d?channel_binding={value}"), &[]).login.channel_binding;
    assert_eq!(binding("disable"), ChannelBinding::Disable);
    assert_eq!(binding("require"), ChannelBinding::Require);
    assert_eq!(read("postgres://u@h/d", &[]).login.channel_binding, ChannelBinding::Prefer);
    let balance = |query: &str| read(&format!("postgres://u@a,b,c/d?{query}"), &[]).balance;
    assert_eq!(balance("load_balance_hosts=random"), Some(Balance { width: 3, stride: 1 }));
    assert_eq!(balance("load_balance_hosts=random&sslmode=allow"), Some(Balance { width: 6, stride: 2 }));
    assert_eq!(balance("load_balance_hosts=disable"), None);
    let by_environment = read("postgres://u@a,b/d", &[("PGTARGETSESSIONATTRS", "standby")]);
    assert!(by_environment.login.attempts.iter().all(|attempt| attempt.role == ServerRole::Standby));
}

#[test]
fn supported_parameter_of_mysql_has_its_effect() {
    let peers: Seen = |database| super::places(database).join(" ");
    let commands: Seen = |database| database.login.init_commands.join("; ");
    let tls: Seen = |database| format!("{:?} {:?}", database.login.tls, database.peers[0].tls);
    for (query, seen, expected) in [
        ("host=a&port=3307", peers, "a:3307"),
        ("database=x", |database| format!("{:?}", database.login.database), "Some(\"x\")"),
        ("charset=utf8mb4", commands, ""),
        ("charset=utf8", commands, "SET NAMES utf8"),
        ("init-command=SET%20sql_mode%3D''", commands, "SET sql_mode=''"),
        ("charset=utf8mb3&init-command=SET%20a%3D1", commands, "SET NAMES utf8mb3; SET a=1"),
        ("ssl=1", tls, "Required Some(Anything)"),
        ("ssl=0", tls, "No None"),
        ("ssl-verify-server-cert=1", tls, "Required Some(System)"),
        ("ssl-mode=REQUIRED", tls, "Required Some(Anything)"),
    ] {
        assert_eq!(seen(&read(&format!("mysql://u@h/d?{query}"), &[])), expected, "{query}");
    }
}

#[test]
fn invalid_combination_is_rejected() {
    for (query, told) in [
        (
            "target_session_attrs=master",
            "write any, read-write, read-only, primary, standby, or prefer-standby",
        ),
        ("load_balance_hosts=round-robin", "write disable or random"),
        ("channel_binding=yes", "write disable, prefer, or require"),
        ("sslnegotiation=direct", "write sslmode=require, verify-ca, or verify-full"),
        ("hostaddr=localhost", "numeric addresses"),
        ("hostaddr=10.0.0.1,10.0.0.2", "write one address for each host"),
        ("require_auth=gss", "log-ins are by password or certificate"),
        ("service=nowhere", "there is no service \"nowhere\""),
    ] {
        let faults = try_read(&format!("postgres://u@h/d?{query}"), &[]).unwrap_err();
        assert!(faults.contains(told), "{query}: {faults}");
    }
}

#[test]
fn service_comes_between_url_and_environment() {
    let path = env::temp_dir().join(format!("tenbin-service-{}", std::process::id()));
    fs::write(
        &path,
        "[shop]\nhost=a,b\nport=6000\nuser=them\ndbname=shop\ntarget_session_attrs=primary\n[bad]\nhots=a\n",
    )
    .unwrap();
    let file = path.to_str().unwrap();
    let environment = [("PGSERVICEFILE", file), ("PGUSER", "me"), ("PGPORT", "1")];
    let database = read("postgres://?service=shop", &environment);
    assert_eq!(super::places(&database), ["a:6000", "b:6000"]);
    assert_eq!((database.login.user.as_str(), database.login.database.as_deref()), ("them", Some("shop")));
    assert_eq!(database.login.attempts.len(), 2);
    let own = read("postgres://you@h:2/own", &[("PGSERVICE", "shop"), ("PGSERVICEFILE", file)]);
    assert_eq!((own.shown.as_str(), own.login.user.as_str()), ("postgres://h:2/own", "you"));
    let faults = try_read("postgres://?service=bad", &environment).unwrap_err();
    assert!(faults.contains("service \"bad\"") && faults.contains("write host"), "{faults}");
    fs::remove_file(path).unwrap();
}

/// Tables of `docs/connections.md`. `UPDATE=1` writes them.
#[test]
fn parameters_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/connections.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut written = text.clone();
    for (mark, table) in
        [("libpq", postgres::parameters::PARAMETERS), ("mysql", mysql::parameters::PARAMETERS)]
    {
        let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
        let from = written.find(&begin).expect("a mark") + begin.len();
        let to = written.find(&end).expect("a mark");
        written.replace_range(from..to, &rows(table));
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(PathBuf::from(&path), &written).unwrap();
    } else {
        assert!(written == text, "docs/connections.md: UPDATE=1 cargo test -p plan writes it");
    }
}

fn rows(table: &[Parameter]) -> String {
    let mut rows = String::from("| parameter | support |\n|---|---|\n");
    for Parameter { name, variable, support } in table {
        let support = match support {
            Support::Full => match variable {
                Some(variable) => format!("as in the client; default: `{variable}`"),
                None => "as in the client".to_owned(),
            },
            Support::NoEffect(reason) => format!("accepted without effect: {reason}"),
            Support::Only(values, reason) => format!("only `{}`: {reason}", values.join("`, `")),
            Support::Rejected(reason, help) => format!("rejected: {reason}. Instead, {help}"),
        };
        let _ = writeln!(rows, "| `{name}` | {support} |");
    }
    rows
}
