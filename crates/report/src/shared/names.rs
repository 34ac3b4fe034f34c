//! Replaces names that identify a machine or a person by numbered ones: `host-1`, `user-1`, `path-1`, `address-1`.
//!
//! A name always gets the same number, so relations between texts stay visible.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};

/// First components of file paths. Other absolute paths in names belong to requests.
const FOLDERS: [&str; 18] = [
    "Users", "bin", "data", "dev", "etc", "home", "lib", "media", "mnt", "opt", "private", "proc", "root",
    "run", "srv", "tmp", "usr", "var",
];
/// Parent folders of home directories.
const HOMES: [&str; 2] = ["home", "Users"];
/// URL schemes of files.
const FILE_SCHEMES: [&str; 3] = ["file", "sqlite", "unix"];
/// Punctuation that can follow a name in a sentence, but is not part of it.
const CLOSING: [char; 11] = [',', '.', ';', ':', ')', ']', '}', '"', '\'', '`', '>'];

/// Kinds of paths that a text may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paths {
    /// Paths of requests and of files.
    Both,
    /// Paths of files only.
    Files,
}

/// Names found so far. The number in a replacement is the position in this list plus one.
#[derive(Debug, Default)]
pub(super) struct Names {
    hosts: RefCell<Vec<String>>,
    users: RefCell<Vec<String>>,
    paths: RefCell<Vec<String>>,
    addresses: RefCell<Vec<String>>,
}

impl Names {
    /// Adds the name of a host, and its first label, which people use as a short name.
    pub(super) fn host(&self, name: &str) {
        let is_generic =
            name.len() < 2 || name.eq_ignore_ascii_case("localhost") || name.contains(['{', ' ']);
        if is_generic || name.parse::<IpAddr>().is_ok() {
            return;
        }
        index_of(&self.hosts, name);
        if let Some((first, _)) = name.split_once('.').filter(|(first, _)| first.len() > 1) {
            index_of(&self.hosts, first);
        }
    }

    /// Adds every user with a home directory, and every host of a URL, in a text.
    pub(super) fn learn(&self, text: &str) {
        for home in HOMES {
            let home = format!("/{home}/");
            for (at, _) in text.match_indices(&home) {
                let rest = &text[at + home.len()..];
                let user =
                    &rest[..rest.find(|character| !is_name_character(character)).unwrap_or(rest.len())];
                if user.len() >= 2 {
                    index_of(&self.users, user);
                }
            }
        }
        for (at, _) in text.match_indices("://") {
            let rest = &text[at + 3..];
            let end = rest.find(|character: char| {
                character.is_whitespace()
                    || matches!(character, '/' | '?' | '#' | '"' | '\'' | '`' | ',' | ')')
            });
            let (host, _) = host_and_port(&rest[..end.unwrap_or(rest.len())]);
            if !is_loopback(host) {
                self.host(host);
            }
        }
    }

    /// Anonymizes a name from a plan, such as that of a step. `GET /users` stays as it is.
    pub(super) fn name(&self, text: &str) -> String {
        self.words(text, Paths::Both)
    }

    /// Anonymizes a sentence about a failure. Quoted commands and output are omitted.
    pub(super) fn sentence(&self, text: &str) -> String {
        let text = ['`', '"'].iter().fold(text.to_owned(), |text, mark| without_quoted(&text, *mark));
        self.words(&text, Paths::Files)
    }

    fn words(&self, text: &str, paths: Paths) -> String {
        let mut words = String::with_capacity(text.len());
        for word in text.split_inclusive(char::is_whitespace) {
            let bare = word.trim_end();
            words.push_str(&self.word(bare, paths));
            words.push_str(&word[bare.len()..]);
        }
        let hosts = self.hosts.borrow();
        let replaced = hosts
            .iter()
            .enumerate()
            .fold(words, |words, (place, host)| replace_word(&words, host, &format!("host-{}", place + 1)));
        let users = self.users.borrow();
        users
            .iter()
            .enumerate()
            .fold(replaced, |words, (place, user)| replace_word(&words, user, &format!("user-{}", place + 1)))
    }

    fn word(&self, word: &str, paths: Paths) -> String {
        let end = word.trim_end_matches(CLOSING).len();
        let (bare, closing) = word.split_at(end);
        if let Some(at) = bare.find("://") {
            return format!("{}{closing}", self.url(bare, at));
        }
        if let Some(at) = path(bare, paths) {
            let path = format!("path-{}", index_of(&self.paths, &bare[at..]) + 1);
            return format!("{}{path}{closing}", self.address(&bare[..at]));
        }
        format!("{}{closing}", self.address(bare))
    }

    /// Removes user, password, and query, and replaces the host. The port and the path of a request stay.
    fn url(&self, url: &str, at: usize) -> String {
        let (scheme, rest) = (&url[..at], &url[at + 3..]);
        if FILE_SCHEMES.iter().any(|of_files| scheme.ends_with(of_files)) {
            return format!("{scheme}:path-{}", index_of(&self.paths, rest) + 1);
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (host, port) = host_and_port(authority);
        let host = match is_loopback(host) || host.contains('{') {
            true => host.to_owned(),
            false if host.parse::<IpAddr>().is_ok() => {
                format!("address-{}", index_of(&self.addresses, host) + 1)
            }
            false => format!("host-{}", index_of(&self.hosts, host) + 1),
        };
        let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
        format!("{scheme}://{host}{port}{path}")
    }

    fn address(&self, word: &str) -> String {
        let start = word.len() - word.trim_start_matches(['(', '[', '"', '\'', '`', '<']).len();
        let (opening, bare) = word.split_at(start);
        let of_socket = bare.parse::<SocketAddr>().map(|socket| (socket.ip(), format!(":{}", socket.port())));
        let found = of_socket.or_else(|_| bare.parse::<IpAddr>().map(|ip| (ip, String::new())));
        match found {
            Ok((ip, port)) if !ip.is_loopback() && !ip.is_unspecified() => {
                format!("{opening}address-{}{port}", index_of(&self.addresses, &ip.to_string()) + 1)
            }
            _ => word.to_owned(),
        }
    }
}

/// Index of a name in its list. Adds the name if it is new.
fn index_of(known: &RefCell<Vec<String>>, name: &str) -> usize {
    let mut known = known.borrow_mut();
    known.iter().position(|other| other.eq_ignore_ascii_case(name)).unwrap_or_else(|| {
        known.push(name.to_owned());
        known.len() - 1
    })
}

/// Splits an authority into host, and port with its colon.
fn host_and_port(authority: &str) -> (&str, &str) {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rfind(':') {
        Some(at) if !host[at..].contains(']') => (host[..at].trim_matches(['[', ']']), &host[at..]),
        _ => (host.trim_matches(['[', ']']), ""),
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Start of a path in a word. `None` if the word has no path.
fn path(word: &str, paths: Paths) -> Option<usize> {
    let begins = |at: usize| !word[..at].ends_with(|before: char| is_name_character(before) || before == '/');
    let is_of_file = |at: usize| {
        let first = word[at + 1..].split('/').next().unwrap_or_default();
        paths == Paths::Files && !first.is_empty() || FOLDERS.contains(&first) && word[at + 1..].contains('/')
    };
    let relative = ["./", "../", "~/"].iter().filter_map(|start| word.find(start)).filter(|at| begins(*at));
    let absolute = word.match_indices('/').map(|(at, _)| at).filter(|at| begins(*at) && is_of_file(*at));
    relative.chain(absolute).min()
}

/// Removes the text between the first and the last quotation mark.
fn without_quoted(text: &str, mark: char) -> String {
    match (text.find(mark), text.rfind(mark)) {
        (Some(first), Some(last)) if first < last => {
            format!("{}(left out){}", &text[..first], &text[last + mark.len_utf8()..])
        }
        (Some(first), _) => format!("{}(left out)", &text[..first]),
        (None, _) => text.to_owned(),
    }
}

/// Replaces every whole word that equals `name`, ignoring case.
fn replace_word(text: &str, name: &str, instead: &str) -> String {
    // Lowercasing ASCII does not move positions in the text.
    let (lower, wanted) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let (mut replaced, mut kept) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices(&wanted) {
        let end = at + wanted.len();
        let is_whole =
            !text[..at].ends_with(char::is_alphanumeric) && !text[end..].starts_with(char::is_alphanumeric);
        if is_whole {
            replaced.push_str(&text[kept..at]);
            replaced.push_str(instead);
            kept = end;
        }
    }
    replaced.push_str(&text[kept..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_hosts_users_paths_and_addresses_by_numbers() {
        let names = Names::default();
        names.host("build-7.corp.example");
        let home = ["", "home", "jane"].join("/");
        names.learn(&format!("start: {home}/bin/app --db postgres://jane:secret@db.internal:5432/app"));
        assert_eq!(names.name(&format!("conf={home}/app.conf,")), "conf=path-1,");
        for (text, expected) in [
            ("on build-7 and BUILD-7.corp.example", "on host-2 and host-1"),
            ("jane's janet", "user-1's janet"),
            ("http://db.internal:8080/users?token=x", "http://host-3:8080/users"),
            ("GET /users/home", "GET /users/home"),
            ("to 10.1.2.3:5432: refused", "to address-1:5432: refused"),
            ("on 127.0.0.1:80", "on 127.0.0.1:80"),
            ("http://[::1]:80/x", "http://::1:80/x"),
        ] {
            assert_eq!(names.name(text), expected);
        }
    }

    #[test]
    fn sentences_lose_quotes_and_paths() {
        let names = Names::default();
        let told = names.sentence("the command `sh -c \"cat `x`\"` failed: \"no /a\" in /secret/place.conf");
        assert_eq!(told, "the command (left out) failed: (left out) in path-1");
    }
}
