//! The connection options of `mysql` (MySQL 9 and MariaDB) and of URIs of MySQL Shell, and how each is supported.

use super::super::parameters::{Parameter, Support, parameter};
use Support::{Full, NoEffect, Only, Rejected};

const UTF8: &str = "statements are sent as UTF-8";
const CHARSETS: &[&str] = &["utf8mb4", "utf8mb3", "utf8", "auto"];
const WINDOWS_ONLY: Support = Rejected("it is for Windows", "name a host, or a socket=PATH");
const PACKET_SIZES: Support = NoEffect("packets have the length that the protocol allows");
const REVOCATION: Support =
    Rejected("lists of revoked certificates are not read", "remove it, and check the server with mysql once");
const CIPHERS: Support = Rejected(
    "ciphers are those of TLS 1.2 and 1.3 that are considered safe",
    "set the ciphers at the server (ssl_cipher)",
);
const COMPRESSION: Support = Only(&["false", "0", "off", "disabled"], "packets are not compressed");

pub(in crate::database) const PARAMETERS: &[Parameter] = &[
    parameter("host", Full),
    parameter("port", Full),
    parameter("user", Full),
    parameter("password", Full),
    parameter("database", Full),
    parameter("socket", Full),
    parameter("ssl-mode", Full),
    parameter("ssl-ca", Full),
    parameter("ssl-cert", Full),
    parameter("ssl-key", Full),
    parameter("connect-timeout", Full),
    parameter("charset", Only(CHARSETS, UTF8)),
    parameter("default-character-set", Only(CHARSETS, UTF8)),
    parameter("init-command", Full),
    parameter("get-server-public-key", Full),
    parameter("enable-cleartext-plugin", Full),
    parameter("ssl", Full),
    parameter("ssl-verify-server-cert", Full),
    parameter("protocol", Only(&["tcp", "socket"], "connections use TCP or a Unix socket")),
    parameter(
        "server-public-key-path",
        Rejected(
            "public keys are not read from files",
            "use TLS (ssl-mode=REQUIRED), or accept any key with get-server-public-key=true",
        ),
    ),
    parameter(
        "ssl-capath",
        Rejected("folders of authorities are not read", "name one file of authorities: ssl-ca=FILE"),
    ),
    parameter("ssl-crl", REVOCATION),
    parameter("ssl-crlpath", REVOCATION),
    parameter("ssl-cipher", CIPHERS),
    parameter("tls-ciphersuites", CIPHERS),
    parameter("tls-version", Only(&["TLSv1.2,TLSv1.3", "TLSv1.3,TLSv1.2"], "TLS 1.2 and 1.3 are offered")),
    parameter("ssl-fips-mode", Only(&["OFF", "off", "0"], "there is no FIPS mode")),
    parameter("ssl-session-data", NoEffect("each connection starts a TLS session of its own")),
    parameter("compress", COMPRESSION),
    parameter("compression", COMPRESSION),
    parameter("compression-algorithms", Only(&["uncompressed"], "packets are not compressed")),
    parameter("compression-level", NoEffect("packets are not compressed")),
    parameter("zstd-compression-level", NoEffect("packets are not compressed")),
    parameter("auth-method", NoEffect("the server selects the plugin")),
    parameter("default-auth", NoEffect("the server selects the plugin")),
    parameter("plugin-dir", NoEffect("no plugins are loaded")),
    parameter("secure-auth", NoEffect("the insecure passwords of before MySQL 4.1 are never sent")),
    parameter(
        "local-infile",
        Only(&["0", "false", "off"], "files of this machine are not sent to the server"),
    ),
    parameter("max-allowed-packet", PACKET_SIZES),
    parameter("net-buffer-length", PACKET_SIZES),
    parameter("reconnect", NoEffect("a lost connection is opened again for the next transaction")),
    parameter(
        "connection-attributes",
        Only(&["false", "0"], "no attributes are sent besides the name of the program"),
    ),
    parameter(
        "bind-address",
        Rejected("the source address is chosen by the system", "set a route for the server"),
    ),
    parameter("pipe", WINDOWS_ONLY),
    parameter("named-pipe", WINDOWS_ONLY),
    parameter("shared-memory-base-name", WINDOWS_ONLY),
    parameter("tunnel", Rejected("SSH tunnels are not opened", "open it with ssh -L, and name its port")),
];
