//! Parsing of database URLs and of the environment.

mod parameters;

use std::path::PathBuf;

use sql::Engine;
use wire::sql::{InsecureAuth, Secret, TlsMode};

use super::{ClientEnvironment, Database};
use crate::endpoint::{ClientCertificate, Peer, Trust};

fn read(url: &str, environment: &[(&str, &str)]) -> Database {
    try_read(url, environment).unwrap_or_else(|faults| panic!("{url}: {faults}"))
}

fn try_read(url: &str, environment: &[(&str, &str)]) -> Result<Database, String> {
    let variable = |name: &str| {
        environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let environment = ClientEnvironment::of(&variable);
    Database::read_with_environment(url, &environment)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn places(database: &Database) -> Vec<String> {
    database.peers.iter().map(Peer::authority).collect()
}

#[test]
fn parses_each_part_of_url() {
    let url = "postgresql://me:p%40ss@127.0.0.1:5433/db?sslmode=disable&application_name=x&connect_timeout=3&options=-c%20a%3D1";
    let database = read(url, &[]);
    assert_eq!(database.engine, Engine::PostgreSql);
    assert_eq!(places(&database), ["127.0.0.1:5433"]);
    assert_eq!((database.login.user.as_str(), database.login.database.as_deref()), ("me", Some("db")));
    assert_eq!(database.login.password, Some(Secret("p@ss".to_owned())));
    assert_eq!((database.login.tls, &database.peers[0].tls), (TlsMode::No, &None));
    let settings = [("application_name", "x"), ("options", "-c a=1")];
    assert_eq!(database.login.settings, settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(database.connect_timeout_ns, Some(3_000_000_000));
    assert_eq!(database.shown, "postgres://127.0.0.1:5433/db");
    assert_eq!(database.command_url(), "postgres://me@127.0.0.1:5433/db");

    let several = read("postgres://me@[::1]:1,10.0.0.1,h:3/db", &[]);
    assert_eq!(
        places(&several),
        ["[::1]:1", "10.0.0.1:1", "h:3"].map(|place| place.replace("0.1:1", "0.1:5432"))
    );
    let socket = read("postgres:///db?host=/run/pg&port=6000&user=u", &[]);
    assert_eq!(places(&socket), ["/run/pg/.s.PGSQL.6000"]);
    assert_eq!(socket.login.tls, TlsMode::No, "a socket has no TLS");
    assert_eq!(places(&read("postgres://%2Frun%2Fpg/db", &[])), ["/run/pg/.s.PGSQL.5432"]);

    let mysql = read("mysql://root:pw@127.0.0.1/test?ssl-mode=required", &[]);
    assert_eq!((mysql.engine, mysql.login.tls), (Engine::MySql, TlsMode::Required));
    assert_eq!(
        (places(&mysql), mysql.shown.as_str()),
        (vec!["127.0.0.1:3306".to_owned()], "mysql://127.0.0.1:3306/test")
    );
    let socket = read("mariadb://root@localhost/test?socket=/run/my.sock", &[]);
    assert_eq!(places(&socket), ["/run/my.sock"]);
    assert_eq!(places(&read("mysql://root@%2Frun%2Fmy.sock/test", &[])), ["/run/my.sock"]);

    let sqlite = read("sqlite:a/b.db?journal_mode=WAL&synchronous=normal&busy_timeout=5s", &[]);
    let (path, settings) = sqlite.file.unwrap();
    assert_eq!(path, PathBuf::from("a/b.db"));
    let expected = [("journal_mode", "wal"), ("synchronous", "normal"), ("busy_timeout", "5000")];
    assert_eq!(settings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(read("sqlite:///x.db", &[]).file.unwrap().0, PathBuf::from("/x.db"));
}

#[test]
fn environment_supplies_what_url_omits() {
    let environment = [
        ("PGHOST", "10.0.0.2"),
        ("PGPORT", "6000"),
        ("PGUSER", "them"),
        ("PGPASSWORD", "pw"),
        ("PGDATABASE", "theirs"),
        ("PGSSLMODE", "require"),
    ];
    let all = read("postgres://", &environment);
    assert_eq!(all.shown, "postgres://10.0.0.2:6000/theirs");
    assert_eq!((all.login.user.as_str(), all.login.password), ("them", Some(Secret("pw".to_owned()))));
    assert_eq!((all.login.tls, &all.peers[0].tls), (TlsMode::Required, &Some(Trust::Anything)));
    let own = read("postgres://me:mine@127.0.0.1:1/db?sslmode=disable", &environment);
    assert_eq!((own.shown.as_str(), own.login.user.as_str()), ("postgres://127.0.0.1:1/db", "me"));
    assert_eq!(own.login.password, Some(Secret("mine".to_owned())));
    let by_user = read("postgres://me@127.0.0.1", &[]);
    assert_eq!(by_user.login.database.as_deref(), Some("me"), "the database is called as the user");
    assert_eq!(by_user.login.tls, TlsMode::IfOffered);
    let mysql = read("mysql://me@127.0.0.1/x", &[("MYSQL_PWD", "pw")]);
    assert_eq!(mysql.login.password, Some(Secret("pw".to_owned())));
}

#[test]
fn checks_certificates_by_mode() {
    let trust = |url: &str| read(url, &[]).peers[0].tls.clone();
    let root = || PathBuf::from("/ca.pem");
    assert_eq!(trust("postgres://u@h/d?sslmode=verify-full"), Some(Trust::System));
    assert_eq!(
        trust("postgres://u@h/d?sslmode=verify-full&sslrootcert=/ca.pem"),
        Some(Trust::Authorities(root()))
    );
    assert_eq!(
        trust("postgres://u@h/d?sslmode=verify-ca&sslrootcert=/ca.pem"),
        Some(Trust::AnyName(Some(root())))
    );
    assert_eq!(
        trust("postgres://u@h/d?sslmode=require&sslrootcert=/ca.pem"),
        Some(Trust::AnyName(Some(root())))
    );
    assert_eq!(trust("postgres://u@h/d?sslmode=require"), Some(Trust::Anything));
    assert_eq!(trust("mysql://u@h/d?ssl-mode=VERIFY_IDENTITY"), Some(Trust::System));
    assert_eq!(trust("mysql://u@h/d?ssl-mode=DISABLED"), None);
}

#[test]
fn sends_password_weakly_only_if_allowed_or_local() {
    let weak = |url: &str, environment: &[(&str, &str)]| read(url, environment).login.weak;
    let no = InsecureAuth::default();
    let (clear, md5) = (InsecureAuth { clear: true, ..no }, InsecureAuth { md5: true, ..no });
    for url in ["postgres://u@127.0.0.1/d", "postgres://u@h/d?sslmode=disable", "mysql://u@localhost/d"] {
        assert_eq!(weak(url, &[]), no, "{url}");
    }
    assert_eq!(weak("mysql://u@h/d?ssl-mode=DISABLED", &[]), no);
    assert_eq!(weak("postgres://u@h/d?require_auth=md5", &[]), md5);
    assert_eq!(weak("postgres://u@h/d?require_auth=scram-sha-256,password", &[]), clear);
    assert_eq!(weak("postgres://u@h/d", &[("PGREQUIREAUTH", "md5")]), md5);
    assert_eq!(weak("postgres://u@h/d?require_auth=none", &[("PGREQUIREAUTH", "md5")]), no);
    assert_eq!(weak("mysql://u@h/d?get-server-public-key=true", &[]), InsecureAuth { any_key: true, ..no });
    assert_eq!(weak("mysql://u@h/d?enable-cleartext-plugin=1&get-server-public-key=false", &[]), clear);
    for socket in ["postgres:///d?host=/run/pg&user=u", "mysql://u@localhost/d?socket=/run/my.sock"] {
        assert_eq!(weak(socket, &[]), InsecureAuth::ALL);
    }
    let mixed = "postgres:///d?host=/run/pg,127.0.0.1&user=u";
    assert_eq!(weak(mixed, &[]), no, "one way leads over the wire");
}

#[test]
fn reports_wrong_urls_without_password() {
    for (url, told) in [
        ("postgres://me:sesame@h/db?ssl_mode=require", "write sslmode"),
        ("postgres://me:sesame@h/db?nonsense=1", "write one of host, port"),
        ("postgres://me:sesame@h/db?sslmode=maybe", "invalid sslmode: \"maybe\""),
        ("postgres://me:sesame@h:x/db", "the port is not a number"),
        ("postgres://me:ses/ame@h/db", "a character that separates parts"),
        ("postgres://me:ses#ame@h/db", "a character that separates parts"),
        ("postgres://me:sesame", "the port is not a number"),
        ("postgres://[::1/db", "not closed"),
        ("postgres:db", "not followed by ://"),
        ("postgres://me:ses%ame@h/db", "the password has a % without two"),
        ("postgres://me:sesame%@h/db", "the password has a % without two"),
        ("mysql://h%2/db", "the host has a % without two"),
        ("postgres://a,b/db?port=1,2,3&user=u", "the numbers of ports and hosts differ"),
        ("postgres://h/db?connect_timeout=x&user=u", "invalid connect_timeout: \"x\""),
        ("mysql://me:sesame@h/db?ssl_mode=required", "write ssl-mode"),
        ("mysql://me:sesame@h/db?ssl-mode=sure", "invalid ssl-mode: \"SURE\""),
        ("postgres://u:sesame@h/d?require_auth=md6", "invalid require_auth: \"md6\""),
        ("mysql://u:sesame@h/d?get-server-public-key=yes", "invalid get-server-public-key: \"yes\""),
        ("sqlite:", "it has no path of a file"),
        ("sqlite::memory:", "each connection would have its own database"),
        ("sqlite:a.db?jurnal_mode=wal", "write journal_mode"),
        ("sqlite:a.db?journal_mode=fast", "invalid journal_mode: \"fast\""),
        ("sqlite:a.db?busy_timeout=soon", "invalid busy_timeout: \"soon\""),
    ] {
        let faults = try_read(url, &[]).expect_err(url);
        assert!(faults.contains(told), "{url}: {faults}");
        let said = faults.replace("target_session_attrs", "");
        assert!(!said.contains("ses"), "{url}: {faults}");
    }
    assert_eq!(super::redacted_url("postgres://bob@h/d"), "postgres://bob@h/d");
    for hidden in
        ["postgres://bob:sesame@h/d", "postgres://ses/ame@h/d", "https://token@h/d", "mysql://ses@me@h/d"]
    {
        let (scheme, _) = hidden.split_once("://").unwrap();
        assert_eq!(super::redacted_url(hidden), format!("{scheme}://(secret)@h/d"));
    }
    let shown = super::redacted_url("postgres://h/d?password=sesame&user=u");
    assert_eq!(shown, "postgres://h/d?password=(secret)&user=u");
}

#[test]
fn reads_client_certificate_from_url() {
    let certificate = |url: &str| try_read(url, &[]).map(|database| database.peers[0].certificate.clone());
    let of = |cert: &str, key: Option<&str>| {
        Ok(Some(ClientCertificate { cert: cert.into(), key: key.map(Into::into) }))
    };
    assert_eq!(certificate("postgres://u@h/d?sslcert=/c.pem&sslkey=/k.pem"), of("/c.pem", Some("/k.pem")));
    assert_eq!(certificate("mysql://u@h/d?ssl-cert=/c.pem"), of("/c.pem", None));
    assert_eq!(certificate("mysql://u@h/d"), Ok(None));
    assert!(certificate("postgres://u@h/d?sslkey=/k.pem").is_err(), "a key alone");
}
