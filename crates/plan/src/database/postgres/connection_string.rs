//! Connection strings of libpq: `host=db1 dbname=shop user=bench`. They are converted to the URL with equal parameters, which the rest of
//! the program reads, stores, and shows.
//!
//! The syntax is that of "Keyword/Value Connection Strings" in the documentation of libpq: a backslash escapes the next character, and
//! single quotes enclose values with spaces.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::super::parameters::find;
use super::parameters::PARAMETERS;

/// Parameters that are a connection string by themselves. Any other `NAME=VALUE` names a system.
const SUFFICIENT_KEYS: [&str; 2] = ["dbname", "service"];
/// Characters of a value that need no encoding in a URL. Braces contain variables of plans.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'{')
    .remove(b'}')
    .remove(b',');

/// URL with the parameters of a connection string, or the error and its help. `None` if the text is not a connection string. Errors show no
/// values, because one may be a password.
pub(crate) fn connection_string_url(text: &str) -> Option<Result<String, (String, String)>> {
    if !is_connection_string(text) {
        return None;
    }
    Some(pairs(text).map(|pairs| url(&pairs)))
}

/// Whether a text looks like a connection string: it has a parameter of libpq, and either several pairs or one that is sufficient.
fn is_connection_string(text: &str) -> bool {
    let names: Vec<&str> = text.split('=').map(str::trim_end).collect();
    let [names @ .., _] = names.as_slice() else { return false };
    let mut names = names.iter().map(|before| before.rsplit(char::is_whitespace).next().unwrap_or_default());
    let count = names.clone().count();
    let is_only_pair = count == 1 && names.clone().all(|name| SUFFICIENT_KEYS.contains(&name));
    let begins_with_url = text.split('=').next().is_some_and(|first| first.contains([':', '/', '?']));
    let has_several = count > 1 && text.trim().contains(char::is_whitespace);
    // `NAME=host=…` names a system.
    let first = text.split_whitespace().next().unwrap_or_default();
    let has_name = first.matches('=').count() > 1
        && first.split('=').next().is_some_and(|name| find(PARAMETERS, name).is_none());
    !begins_with_url
        && !has_name
        && (is_only_pair || has_several && names.any(|name| find(PARAMETERS, name).is_some()))
}

/// Parameters with their values, in order.
fn pairs(text: &str) -> Result<Vec<(String, String)>, (String, String)> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|sign: char| sign == '=' || sign.is_whitespace()).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let Some(after) = rest[end..].trim_start().strip_prefix('=').filter(|_| is_name) else {
            let what = format!(
                "parameter {} of the connection string is not followed by = and a value",
                pairs.len() + 1
            );
            let help = "write NAME=VALUE pairs such as host=localhost dbname=shop; in a value, write \\ before a space, or quote it: \
                        password='two words'";
            return Err((what, help.to_owned()));
        };
        let (value, after) = value(after.trim_start()).ok_or_else(|| {
            (
                format!("the quote of {name} is not closed"),
                "add ', and write a quote within the value as \\'".to_owned(),
            )
        })?;
        pairs.push((name, value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// Splits a value from the rest. `None` if its quote is not closed.
fn value(text: &str) -> Option<(String, &str)> {
    let (is_quoted, text) = text.strip_prefix('\'').map_or((false, text), |inner| (true, inner));
    let mut value = String::new();
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => value.extend(signs.next().map(|(_, escaped)| escaped)),
            '\'' if is_quoted => return Some((value, &text[at + 1..])),
            sign if sign.is_whitespace() && !is_quoted => return Some((value, &text[at..])),
            sign => value.push(sign),
        }
    }
    (!is_quoted).then_some((value, ""))
}

/// URL with these parameters. A user, TCP hosts with their ports, and a database are in the places that people read first.
fn url(pairs: &[(String, String)]) -> String {
    let given = |name: &str| {
        let mut named = pairs.iter().rev().filter(|(known, _)| known == name);
        named.next().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    let encoded = |value: &str| utf8_percent_encode(value, ENCODED).to_string();
    let places = places(given("host"), given("port")).filter(|_| given("hostaddr").is_none());
    let user = given("user").map_or(String::new(), |user| format!("{}@", encoded(user)));
    let database = given("dbname").map_or(String::new(), encoded);
    let is_placed =
        |name: &str| matches!(name, "user" | "dbname") || places.is_some() && matches!(name, "host" | "port");
    let rest = pairs.iter().filter(|(name, _)| !is_placed(name));
    let rest: Vec<String> = rest.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    format!("postgres://{user}{}/{database}{query}", places.unwrap_or_default())
}

/// Hosts with their ports, as in a URL. `None` if a host is a folder or an IPv6 address, or if the numbers of hosts and ports differ.
fn places(hosts: Option<&str>, ports: Option<&str>) -> Option<String> {
    let hosts: Vec<&str> = hosts?.split(',').collect();
    let ports: Vec<&str> = ports.map_or(Vec::new(), |ports| ports.split(',').collect());
    let is_plain = |host: &&str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_{}".contains(&byte))
    };
    if !hosts.iter().all(is_plain) || ports.len() > 1 && ports.len() != hosts.len() {
        return None;
    }
    let place = |(number, host): (usize, &&str)| match ports.get(number).or(ports.first()) {
        Some(port) => format!("{host}:{port}"),
        None => (*host).to_owned(),
    };
    Some(hosts.iter().enumerate().map(place).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_strings_become_urls() {
        for (text, url) in [
            ("host=localhost dbname=shop", "postgres://localhost/shop"),
            (" host = db1,db2  port = 5432,5433 user=me ", "postgres://me@db1:5432,db2:5433/"),
            ("host=db1,db2 port=6000", "postgres://db1:6000,db2:6000/"),
            ("host=/run/postgresql dbname=a", "postgres:///a?host=%2Frun%2Fpostgresql"),
            ("host=::1 dbname=a", "postgres:///a?host=%3A%3A1"),
            ("hostaddr=10.0.0.1 host=db port=1", "postgres:///?hostaddr=10.0.0.1&host=db&port=1"),
            ("dbname=shop", "postgres:///shop"),
            ("service=shop", "postgres:///?service=shop"),
            (r"user=me password='a b\'c\\d@e' dbname=x", r"postgres://me@/x?password=a%20b%27c%5Cd%40e"),
            (r"user=a\ b dbname=''", "postgres://a%20b@/"),
            ("host=127.0.0.1 port={port} dbname=x", "postgres://127.0.0.1:{port}/x"),
            ("hots=a dbname=b sslmode=require", "postgres:///b?hots=a&sslmode=require"),
        ] {
            assert_eq!(connection_string_url(text), Some(Ok(url.to_owned())), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_connection_strings() {
        for text in [
            "",
            "=",
            "host=localhost:8080",
            "express=localhost:4000",
            "a=host=db dbname=shop",
            "a=dbname=shop",
            "postgres://h/d?host=a&user=b",
            "postgres:///d?options=-c a=b",
            "a=b c=d",
            "sqlite:a.db?x=y",
        ] {
            assert_eq!(connection_string_url(text), None, "{text}");
        }
    }

    #[test]
    fn errors_of_connection_strings_show_no_values() {
        for (text, what) in [
            ("host=a password='se cret", "the quote of password is not closed"),
            ("host=a dbname=b se cret", "parameter 3 of the connection string"),
            ("host=a PASSWORD=secret user=x", "parameter 2 of the connection string"),
        ] {
            let (shown, help) = connection_string_url(text).expect("a connection string").expect_err(text);
            assert!(
                shown.contains(what) && !shown.contains("cret") && !help.contains("cret"),
                "{text}: {shown}"
            );
        }
    }
}
