//! Reads `headers`, `auth`, `cookies`, and `redirects` of a scenario, which apply to all of its requests.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::jar::CookieJar;
use super::redirect::Redirects;
use super::request::{Credentials, Request};
use crate::step::Reader;
use crate::step::tree::{Node, Span};

/// Hidden variable with the cookies of a user. A name in braces can never refer to a hidden variable.
const USER_COOKIES: &str = "(cookies)";
/// Hidden variable with the cookies of an iteration.
const ITERATION_COOKIES: &str = "(cookies of an iteration)";
/// Hidden variable with the path of the current request, for cookies that set no path.
const COOKIE_PATH: &str = "(path)";
/// Hidden variable with the latest location of a redirect.
const LOCATION: &str = "(location)";
const AUTHORIZATION: &str = "Authorization";

/// Whether a hidden variable holds the cookies of an iteration, which starts without cookies.
pub(super) fn is_per_iteration(name: &str) -> bool {
    name.starts_with(ITERATION_COOKIES)
}

/// Words for the cookies that a hidden variable has.
pub(super) fn words(name: &str) -> &'static str {
    match name.starts_with(USER_COOKIES) {
        true => "each user keeps cookies",
        false => "each iteration keeps cookies",
    }
}

/// Headers and credentials that the requests of a scenario carry. Each starts at the first step at which its values are known.
#[derive(Default)]
pub(super) struct Carried<'a> {
    list: Vec<Item<'a>>,
    /// Hidden variable with the cookies. `None` if cookies are not kept. Each system has a separate one, with the system's name as its
    /// suffix.
    jar: Option<&'static str>,
    /// Max consecutive redirects.
    redirects: u8,
}

/// A header, or credentials, that requests carry.
struct Item<'a> {
    at: Span,
    what: CarriedKind,
    /// Texts that may have variables.
    texts: Vec<&'a Node>,
    /// Whether any request carries the value.
    is_used: bool,
}

enum CarriedKind {
    Header(String, String),
    Basic(Credentials),
}

impl<'a> Carried<'a> {
    /// Reads the keys of a scenario.
    pub(super) fn read(scenario: &'a Node, reader: &mut dyn Reader) -> Self {
        let headers = scenario.get("headers").map_or(&[][..], Node::entries).iter().map(|entry| {
            let text = entry.value.text().unwrap_or_default().to_owned();
            let what = CarriedKind::Header(entry.key.clone(), text);
            Item { at: entry.key_at, what, texts: vec![&entry.value], is_used: false }
        });
        let mut list: Vec<Item<'_>> = headers.collect();
        if let Some(auth) = auth(scenario, reader) {
            if list.iter().any(|item| item.is_header(AUTHORIZATION)) {
                let what = "both `auth` and a header say who is asking";
                reader.report(auth.at, what.into(), "remove the header Authorization".into());
            }
            list.push(auth);
        }
        let jar = match scenario.text_of("cookies") {
            Some("true") => Some(USER_COOKIES),
            Some("iteration") => Some(ITERATION_COOKIES),
            _ => None,
        };
        // These variables are numbered before the values of steps.
        for name in jar.into_iter().flat_map(|jar| [jar, COOKIE_PATH]) {
            reader.hidden_variable(name);
        }
        Self { list, jar, redirects: redirects(scenario).unwrap_or(0) }
    }

    /// Adds headers and credentials to the request of a step, if their values are known by then and the request does not set them
    /// itself.
    pub(super) fn add_to(
        &mut self,
        step: &Node,
        request: &mut Request,
        endpoint: &str,
        reader: &mut dyn Reader,
    ) {
        request.cookies = self.jar.and_then(|jar| {
            let jar = reader.hidden_variable(&format!("{jar}{endpoint}"))?;
            Some(CookieJar { jar, path: reader.hidden_variable(COOKIE_PATH)? })
        });
        let max = redirects(step).unwrap_or(self.redirects);
        if max > 0 {
            // The URL of the system, which is filled in later, decides about TLS.
            let followed = |location| Redirects { max, location, is_secure: false };
            request.redirects = reader.hidden_variable(LOCATION).map(followed);
        }
        for item in &mut self.list {
            let texts = || item.texts.iter().filter_map(|node| Some((*node, node.text()?)));
            if !texts().all(|(_, text)| reader.are_values_saved(text)) {
                continue;
            }
            if !item.is_used {
                texts().for_each(|(node, text)| reader.resolve_names(node, text));
                item.is_used = true;
            }
            match &item.what {
                CarriedKind::Header(name, _) if request.has(name) => {}
                CarriedKind::Header(name, text) => request.headers.push((name.clone(), text.clone())),
                CarriedKind::Basic(_) if request.has(AUTHORIZATION) => {}
                CarriedKind::Basic(credentials) => request.credentials = Some(credentials.clone()),
            }
        }
    }

    /// Reports headers and credentials that no request carries.
    pub(super) fn report_unused(&self, reader: &mut dyn Reader) {
        for item in self.list.iter().filter(|item| !item.is_used) {
            let before = reader.error_count();
            let texts = item.texts.iter().filter_map(|node| Some((*node, node.text()?)));
            texts.for_each(|(node, text)| reader.resolve_names(node, text));
            if reader.error_count() == before {
                let what = "no step of the scenario is a request that carries it";
                reader.report(item.at, what.into(), "remove it".into());
            }
        }
    }

    /// Whether each iteration starts without cookies.
    pub(super) fn has_cookies_per_iteration(&self) -> bool {
        self.jar == Some(ITERATION_COOKIES)
    }

    /// Place of a header, ignoring case.
    pub(super) fn header_at(&self, name: &str) -> Option<Span> {
        self.list.iter().find(|item| item.is_header(name)).map(|item| item.at)
    }

    /// Place of credentials. `None` if there are none.
    pub(super) fn credentials_at(&self) -> Option<Span> {
        let says =
            |item: &&Item<'_>| matches!(item.what, CarriedKind::Basic(_)) || item.is_header(AUTHORIZATION);
        self.list.iter().find(says).map(|item| item.at)
    }
}

impl Item<'_> {
    fn is_header(&self, name: &str) -> bool {
        matches!(&self.what, CarriedKind::Header(own, _) if own.eq_ignore_ascii_case(name))
    }
}

/// Max consecutive redirects that a scenario or a step sets. `None` if it sets none.
fn redirects(node: &Node) -> Option<u8> {
    node.text_of("redirects")?.parse().ok()
}

fn auth<'a>(scenario: &'a Node, reader: &mut dyn Reader) -> Option<Item<'a>> {
    let entry = scenario.entry("auth")?;
    let mut kinds = entry.value.entries().iter();
    let kind = kinds.next()?;
    if let Some(second) = kinds.next() {
        let what = format!("`auth` has one scheme, and this one has `{}`", kind.key);
        reader.report(second.key_at, what, "remove one of them".into());
    }
    let text = |node: &Node| node.text().unwrap_or_default().to_owned();
    let (what, texts) = match (kind.key.as_str(), kind.value.get("user"), kind.value.get("password")) {
        ("bearer", ..) => {
            let value = format!("Bearer {}", text(&kind.value));
            (CarriedKind::Header(AUTHORIZATION.to_owned(), value), vec![&kind.value])
        }
        ("basic", Some(user), Some(password)) => {
            if text(user).contains(':') {
                let what =
                    "the user of Basic authentication has no colon, which separates it from the password";
                reader.report(user.at, what.into(), "write the password in `password`".into());
            }
            (
                CarriedKind::Basic(Credentials { user: text(user), password: text(password) }),
                vec![user, password],
            )
        }
        _ => return None,
    };
    Some(Item { at: entry.key_at, what, texts, is_used: false })
}
