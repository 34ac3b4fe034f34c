//! The connection parameters of libpq (PostgreSQL 18), and how each is supported.

use super::super::parameters::{Parameter, Support, parameter};
use Support::{Full, NoEffect, Only, Rejected};

const fn with_variable(name: &'static str, variable: &'static str) -> Parameter {
    Parameter { name, variable: Some(variable), support: Full }
}

const TIMEOUTS: Support = NoEffect("Tenbin ends waits by its own time-outs");
const KERBEROS: Support = NoEffect("GSSAPI is not used");
const OAUTH: Support = Rejected(
    "log-ins by OAuth are not supported",
    "log in with a password (scram-sha-256) or a client certificate (sslcert)",
);
const REVOCATION: Support =
    Rejected("lists of revoked certificates are not read", "remove it, and check the server with psql once");
const SCRAM_KEYS: Support =
    Rejected("log-ins with stored keys are not supported", "give the password in PGPASSWORD or ~/.pgpass");

pub(in crate::database) const PARAMETERS: &[Parameter] = &[
    with_variable("host", "PGHOST"),
    with_variable("port", "PGPORT"),
    with_variable("hostaddr", "PGHOSTADDR"),
    with_variable("dbname", "PGDATABASE"),
    with_variable("user", "PGUSER"),
    with_variable("password", "PGPASSWORD"),
    with_variable("passfile", "PGPASSFILE"),
    with_variable("require_auth", "PGREQUIREAUTH"),
    with_variable("channel_binding", "PGCHANNELBINDING"),
    with_variable("connect_timeout", "PGCONNECT_TIMEOUT"),
    with_variable("options", "PGOPTIONS"),
    with_variable("application_name", "PGAPPNAME"),
    parameter("fallback_application_name", Full),
    with_variable("service", "PGSERVICE"),
    with_variable("servicefile", "PGSERVICEFILE"),
    with_variable("target_session_attrs", "PGTARGETSESSIONATTRS"),
    with_variable("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    with_variable("sslmode", "PGSSLMODE"),
    with_variable("sslnegotiation", "PGSSLNEGOTIATION"),
    with_variable("sslrootcert", "PGSSLROOTCERT"),
    with_variable("sslcert", "PGSSLCERT"),
    with_variable("sslkey", "PGSSLKEY"),
    // Also accepted by libpq, for URLs of JDBC: `ssl=true`.
    parameter("ssl", Only(&["true"], "libpq takes ssl=true only, which is sslmode=require")),
    parameter("sslcertmode", Only(&["allow"], "a client certificate is sent if the server requests one")),
    parameter(
        "sslpassword",
        Rejected("keys must not be encrypted", "decrypt it: openssl pkey -in KEY -out PLAIN"),
    ),
    parameter("sslcrl", REVOCATION),
    parameter("sslcrldir", REVOCATION),
    parameter("sslcompression", Only(&["0"], "TLS is never compressed")),
    parameter("sslsni", Only(&["1"], "the name of the server is always sent")),
    parameter(
        "ssl_min_protocol_version",
        Only(&["TLSv1", "TLSv1.1", "TLSv1.2"], "TLS 1.2 and 1.3 are offered"),
    ),
    parameter("ssl_max_protocol_version", Only(&["TLSv1.3"], "TLS 1.2 and 1.3 are offered")),
    parameter(
        "sslkeylogfile",
        Rejected("keys of TLS are not written to files", "capture the traffic of psql instead"),
    ),
    parameter("gssencmode", Only(&["disable", "prefer"], "GSSAPI is not supported")),
    parameter("krbsrvname", KERBEROS),
    parameter("gsslib", KERBEROS),
    parameter("gssdelegation", KERBEROS),
    parameter(
        "requirepeer",
        Rejected(
            "the owner of a Unix socket is not checked",
            "remove it, and check the folder's permissions",
        ),
    ),
    parameter("scram_client_key", SCRAM_KEYS),
    parameter("scram_server_key", SCRAM_KEYS),
    parameter("oauth_issuer", OAUTH),
    parameter("oauth_client_id", OAUTH),
    parameter("oauth_client_secret", OAUTH),
    parameter("oauth_scope", OAUTH),
    parameter(
        "client_encoding",
        Only(&["auto", "UTF8", "utf8", "UTF-8", "utf-8", "UNICODE"], "statements are sent as UTF-8"),
    ),
    parameter(
        "replication",
        Only(&["false", "off", "no", "0"], "a replication connection takes no transactions"),
    ),
    parameter("keepalives", TIMEOUTS),
    parameter("keepalives_idle", TIMEOUTS),
    parameter("keepalives_interval", TIMEOUTS),
    parameter("keepalives_count", TIMEOUTS),
    parameter("tcp_user_timeout", TIMEOUTS),
    parameter("min_protocol_version", Only(&["3.0"], "version 3.0 of the protocol is used")),
    parameter("max_protocol_version", NoEffect("version 3.0 of the protocol is used, which is the lowest")),
];
