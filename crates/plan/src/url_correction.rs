//! Suggests a correction for a text that is not the URL of a server that Tenbin can load.

use crate::database::{SCHEME_ALIASES, redacted_url};
use crate::file::near::nearest;
use crate::system_kind::request_schemes;

/// Schemes of protocols that Tenbin does not speak, but whose bytes can be sent over raw TCP.
const RAW_TCP_SCHEMES: [&str; 10] =
    ["redis", "rediss", "amqp", "amqps", "mqtt", "kafka", "nats", "smtp", "ftp", "ssh"];
/// Unsupported protocol schemes without a replacement.
const UNSUPPORTED_SCHEMES: [&str; 7] = ["ws", "wss", "grpc", "grpcs", "h2", "h2c", "quic"];
/// Schemes that look up servers in the DNS, with the help.
const DNS_SCHEMES: [(&str, &str); 1] = [(
    "mongodb+srv",
    "its servers are in SRV records of the DNS, which are not read: look them up (`dig SRV _mongodb._tcp.HOST`), and write \
     mongodb://HOST:PORT/DATABASE?tls=true; in a plan `url` is a list of all of them",
)];

/// Correction, as the help of an error on the command line. `None` if the text resembles nothing known.
pub(crate) fn correction(text: &str, known: &[&str]) -> Option<String> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix("unix:") {
        let path = path.trim_start_matches("//");
        return Some(format!(
            "write --unix-socket {path} http://localhost/ for a server of HTTP on a socket"
        ));
    }
    if let Some(url) = corrected(text, known) {
        return Some(format!("write {}", redacted_url(&url)));
    }
    let (scheme, rest) = scheme_and_rest(text)?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.rsplit('@').next()?.split('/').next()?;
    if RAW_TCP_SCHEMES.contains(&scheme.as_str()) {
        return Some(format!(
            "write tcp://{authority} in a plan with steps that send its bytes: docs/plan.md, raw TCP"
        ));
    }
    if let Some((_, reason)) = DNS_SCHEMES.iter().find(|(by_dns, _)| *by_dns == scheme) {
        return Some((*reason).to_owned());
    }
    UNSUPPORTED_SCHEMES.contains(&scheme.as_str()).then(|| {
        format!("there is no {scheme}: write http://{authority} for a load of HTTP/1.1, or use another tool")
    })
}

/// URL that the text probably means. `known` are the schemes that can be loaded.
pub(crate) fn corrected(text: &str, known: &[&str]) -> Option<String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("jdbc:") {
        return Some(rest.to_owned());
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Some(format!("http://{rest}"));
    }
    let port = text.strip_prefix(':').unwrap_or(text);
    if port.parse::<u16>().is_ok_and(|port| port > 0) {
        return Some(format!("http://localhost:{port}"));
    }
    let (scheme, rest) = scheme_and_rest(text)?;
    let scheme = scheme.to_ascii_lowercase();
    if rest.is_empty()
        || RAW_TCP_SCHEMES.contains(&scheme.as_str())
        || UNSUPPORTED_SCHEMES.contains(&scheme.as_str())
    {
        return None;
    }
    if DNS_SCHEMES.iter().any(|(by_dns, _)| *by_dns == scheme) {
        return None;
    }
    // The part after the plus sign is a database driver, as in SQLAlchemy: postgresql+asyncpg.
    let plain = scheme.split('+').next().unwrap_or_default();
    let alias = || SCHEME_ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, name)| *name);
    let same = known.iter().copied().find(|known| *known == plain);
    let meant = same.or_else(alias).or_else(|| nearest(plain, known.iter().copied()))?;
    let url = format!("{meant}://{rest}");
    (url != text).then_some(url)
}

/// Splits at the separators between a scheme and the rest, even if they are wrong: `http:/x`, `http:x`, `http//x`, `https:://x`.
fn scheme_and_rest(text: &str) -> Option<(&str, &str)> {
    let is_sign = |character: char| [':', '/', ';', '\\'].contains(&character);
    let (scheme, rest) = text.split_at(text.find(is_sign)?);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-".contains(&byte));
    let signs = &rest[..rest.find(|character| !is_sign(character)).unwrap_or(rest.len())];
    // A host with a path or a port also has one separator: `server/path`, `server:80`.
    let is_of_http = signs == ":" && request_schemes().iter().any(|one| one.name == scheme);
    (is_scheme && (signs.len() > 1 || is_of_http)).then(|| (scheme, rest.trim_start_matches(is_sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrects_slips_and_other_schemes() {
        let known = ["http", "https", "tcp", "postgres", "postgresql", "mysql", "mariadb", "sqlite"];
        for (text, help) in [
            ("8080", "write http://localhost:8080"),
            (":8080", "write http://localhost:8080"),
            ("//localhost/a", "write http://localhost/a"),
            ("htp://localhost/", "write http://localhost/"),
            ("HTPP://localhost/", "write http://localhost/"),
            ("http:/x", "write http://x"),
            ("http:localhost:1", "write http://localhost:1"),
            ("http//localhost:1/", "write http://localhost:1/"),
            ("https:://localhost", "write https://localhost"),
            ("jdbc:postgresql://h/d", "write postgresql://h/d"),
            ("postgresql+asyncpg://me:secret@h/d", "write postgresql://(secret)@h/d"),
            ("sqlite3://a.db", "write sqlite://a.db"),
            ("redis://:secret@localhost:6379/0", "write tcp://localhost:6379 in a plan"),
            ("mongodb+srv://u:secret@cluster.example/db", "its servers are in SRV records of the DNS"),
            ("ws://localhost/", "there is no ws: write http://localhost for"),
            ("unix:/run/a.sock", "write --unix-socket /run/a.sock http://localhost/"),
        ] {
            let corrected = correction(text, &known).unwrap_or_default();
            assert!(corrected.starts_with(help) && !corrected.contains("secret@h/d:"), "{text}: {corrected}");
        }
        for text in ["", "histroy", "0", "99999", "xyzzy://h", "server/path", "server:80", "http://", "-"] {
            assert_eq!(correction(text, &known), None, "{text}");
        }
    }
}
