//! URLs of SQLite: a file, and pragmas of each connection.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use sql::Engine;
use wire::sql::Login;

use super::{Database, plain_peer};
use crate::fault::Fault;
use crate::file::near;
use crate::units;

const WORDS: [(&str, &[&str]); 3] = [
    ("journal_mode", &["delete", "truncate", "persist", "memory", "wal", "off"]),
    ("synchronous", &["off", "normal", "full", "extra"]),
    ("busy_timeout", &[]),
];

pub(super) fn read(url: &str, faults: &mut Vec<Fault>) -> Option<Database> {
    let place = format!("{url:?}");
    let rest = url.trim_start().split_once(':').map_or("", |(_, rest)| rest);
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let Ok(path) = percent_decode_str(path).decode_utf8() else {
        faults.push(Fault::new(place, "the path is not UTF-8", "write the path of a file in UTF-8"));
        return None;
    };
    if path.is_empty() || path.contains('\0') {
        faults.push(Fault::new(
            place,
            "it has no path of a file",
            "write sqlite:PATH, such as sqlite:bench.db",
        ));
        return None;
    }
    if path.contains(":memory:") {
        let what = "with :memory:, each connection would have its own database";
        faults.push(Fault::new(place, what, "write the path of a file, such as sqlite:/dev/shm/bench.db"));
        return None;
    }
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let settings = pairs.filter_map(|pair| setting(pair, &place, faults)).collect();
    Some(Database {
        engine: Engine::Sqlite,
        login: Login::default(),
        peers: vec![plain_peer(String::new(), 0)],
        file: Some((PathBuf::from(path.as_ref()), settings)),
        connect_timeout_ns: None,
        balance: None,
        shown: format!("sqlite:{path}"),
    })
}

fn setting(pair: &str, place: &str, faults: &mut Vec<Fault>) -> Option<(String, String)> {
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let names = || WORDS.iter().map(|(name, _)| *name);
    let Some((name, words)) = WORDS.iter().find(|(name, _)| *name == key) else {
        let help = match near::nearest(key, names()) {
            Some(near) => format!("write {near}"),
            None => format!("write one of {}", names().collect::<Vec<_>>().join(", ")),
        };
        faults.push(Fault::new(place, format!("unknown parameter {key:?}"), help));
        return None;
    };
    let value = value.to_ascii_lowercase();
    if words.is_empty() {
        // SQLite's own unit is a millisecond.
        let ms = value.parse().or_else(|_| units::duration_ns(&value).map(|ns| ns / 1_000_000));
        match ms {
            Ok(ms) if ms <= i32::MAX as u64 => return Some(((*name).to_owned(), ms.to_string())),
            _ => {
                let what = format!("invalid {name}: {value:?}");
                faults.push(Fault::new(place, what, "write a duration such as 5s, or milliseconds"));
            }
        }
        return None;
    }
    if !words.contains(&value.as_str()) {
        let what = format!("invalid {name}: {value:?}");
        faults.push(Fault::new(place, what, format!("write one of {}", words.join(", "))));
        return None;
    }
    Some(((*name).to_owned(), value))
}
