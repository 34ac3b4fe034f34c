//! Reads `headers`, `auth`, `cookies`, and `redirects` of a scenario, which apply to all of its requests.

use load::values::{DataSource, Source};
use wire::http1::{CookieJar, Credentials, Redirects, Request};

use super::reading::Reading;
use super::span::Span;
use super::tree::Node;
use super::variables::Variables;

/// Hidden variable with the cookies of a user. No name in braces can be that of a hidden variable.
pub(crate) const COOKIES_OF_USER: &str = "(cookies)";
/// Hidden variable with the cookies of an iteration.
const COOKIES_OF_ITERATION: &str = "(cookies of an iteration)";
/// Hidden variable with the path of the current request, for cookies that set no path.
const COOKIE_PATH: &str = "(path)";
/// Hidden variable with the latest location of a redirect.
const LOCATION: &str = "(location)";
const AUTHORIZATION: &str = "Authorization";

/// Headers and credentials that the requests of a scenario carry. Each starts at the first step at which its values are known.
#[derive(Default)]
pub(crate) struct Carried<'a> {
    list: Vec<Item<'a>>,
    /// Hidden variable with the cookies. `None` if cookies are not kept. Each system has its own, with the system's name at the
    /// end.
    jar: Option<&'static str>,
    /// Max consecutive redirects.
    redirects: u8,
}

/// A header, or credentials, that requests carry.
struct Item<'a> {
    at: Span,
    what: What,
    /// Texts that may have variables.
    texts: Vec<&'a Node>,
    /// Whether any request carries it.
    is_used: bool,
}

enum What {
    Header(String, String),
    Basic(Credentials),
}

impl<'a> Carried<'a> {
    /// Reads the keys of a scenario.
    pub(crate) fn read(scenario: &'a Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Self {
        let headers = scenario.get("headers").map_or(&[][..], Node::entries).iter().map(|entry| {
            let text = entry.value.text().unwrap_or_default().to_owned();
            let what = What::Header(entry.key.clone(), text);
            Item { at: entry.key_at, what, texts: vec![&entry.value], is_used: false }
        });
        let mut list: Vec<Item<'_>> = headers.collect();
        if let Some(auth) = auth(scenario, reading) {
            if list.iter().any(|item| item.is_header(AUTHORIZATION)) {
                let what = "both `auth` and a header say who is asking";
                reading.at(auth.at, what, "remove the header Authorization");
            }
            list.push(auth);
        }
        let jar = match scenario.text_of("cookies") {
            Some("true") => Some(COOKIES_OF_USER),
            Some("iteration") => Some(COOKIES_OF_ITERATION),
            _ => None,
        };
        // These variables get their numbers before the values of steps.
        for name in jar.into_iter().flat_map(|jar| [jar, COOKIE_PATH]) {
            variables.hidden(name);
        }
        Self { list, jar, redirects: redirects(scenario).unwrap_or(0) }
    }

    /// Adds headers and credentials to the request of a step, if their values are known by then and the request does not set them
    /// itself.
    pub(crate) fn add_to(
        &mut self,
        step: &Node,
        request: &mut Request,
        endpoint: &str,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
    ) {
        request.cookies = self.jar.and_then(|jar| {
            let jar = variables.hidden(&format!("{jar}{endpoint}"))?;
            Some(CookieJar { jar, path: variables.hidden(COOKIE_PATH)? })
        });
        let max = redirects(step).unwrap_or(self.redirects);
        if max > 0 {
            // The URL of the system, which is filled in later, decides about TLS.
            let followed = |location| Redirects { max, location, is_secure: false };
            request.redirects = variables.hidden(LOCATION).map(followed);
        }
        for item in &mut self.list {
            let texts = || item.texts.iter().filter_map(|node| Some((*node, node.text()?)));
            if !texts().all(|(_, text)| variables.are_at_hand(text)) {
                continue;
            }
            if !item.is_used {
                texts().for_each(|(node, text)| variables.use_in(node, text, reading));
                item.is_used = true;
            }
            match &item.what {
                What::Header(name, _) if request.has(name) => {}
                What::Header(name, text) => request.headers.push((name.clone(), text.clone())),
                What::Basic(_) if request.has(AUTHORIZATION) => {}
                What::Basic(credentials) => request.credentials = Some(credentials.clone()),
            }
        }
    }

    /// Reports headers and credentials that no request carries.
    pub(crate) fn finish(self, variables: &mut Variables, reading: &mut Reading<'_>) {
        for item in self.list.iter().filter(|item| !item.is_used) {
            let before = reading.findings.count();
            let texts = item.texts.iter().filter_map(|node| Some((*node, node.text()?)));
            texts.for_each(|(node, text)| variables.use_in(node, text, reading));
            if reading.findings.count() == before {
                reading.at(item.at, "no step of the scenario is a request that carries it", "remove it");
            }
        }
    }

    /// Whether each iteration begins without cookies.
    pub(crate) fn keeps_cookies_of_iterations(&self) -> bool {
        self.jar == Some(COOKIES_OF_ITERATION)
    }

    /// Place of a header, ignoring case.
    pub(crate) fn header_at(&self, name: &str) -> Option<Span> {
        self.list.iter().find(|item| item.is_header(name)).map(|item| item.at)
    }

    /// Place of credentials. `None` if there are none.
    pub(crate) fn authorization_at(&self) -> Option<Span> {
        let says = |item: &&Item<'_>| matches!(item.what, What::Basic(_)) || item.is_header(AUTHORIZATION);
        self.list.iter().find(says).map(|item| item.at)
    }
}

/// Source that clears the cookies of the previous iteration, at every system. `None` if no scenario keeps cookies by iteration.
pub(crate) fn without_cookies(variables: &[String]) -> Option<DataSource> {
    let numbered = (0..).zip(variables);
    let jars = numbered.filter(|(_, name)| name.starts_with(COOKIES_OF_ITERATION)).map(|(number, _)| number);
    let jars: Vec<u16> = jars.collect();
    (!jars.is_empty()).then(|| emptied(&jars))
}

/// Source that empties variables at the start of each iteration.
pub(crate) fn emptied(variables: &[u16]) -> DataSource {
    let source = Source::Text { length: 0, alphabet: "0" };
    DataSource { fills: variables.iter().map(|variable| (*variable, 0)).collect(), source }
}

impl Item<'_> {
    fn is_header(&self, name: &str) -> bool {
        matches!(&self.what, What::Header(own, _) if own.eq_ignore_ascii_case(name))
    }
}

/// Max consecutive redirects that a scenario or a step sets. `None` if it sets none.
fn redirects(node: &Node) -> Option<u8> {
    node.text_of("redirects")?.parse().ok()
}

fn auth<'a>(scenario: &'a Node, reading: &mut Reading<'_>) -> Option<Item<'a>> {
    let entry = scenario.entry("auth")?;
    let mut kinds = entry.value.entries().iter();
    let kind = kinds.next()?;
    if let Some(second) = kinds.next() {
        let what = format!("`auth` has one scheme, and this one has `{}`", kind.key);
        reading.at(second.key_at, what, "remove one of them");
    }
    let text = |node: &Node| node.text().unwrap_or_default().to_owned();
    let (what, texts) = match (kind.key.as_str(), kind.value.get("user"), kind.value.get("password")) {
        ("bearer", ..) => {
            let value = format!("Bearer {}", text(&kind.value));
            (What::Header(AUTHORIZATION.to_owned(), value), vec![&kind.value])
        }
        ("basic", Some(user), Some(password)) => {
            if text(user).contains(':') {
                let what =
                    "the user of Basic authentication has no colon, which separates it from the password";
                reading.at(user.at, what, "write the password in `password`");
            }
            (What::Basic(Credentials { user: text(user), password: text(password) }), vec![user, password])
        }
        _ => return None,
    };
    Some(Item { at: entry.key_at, what, texts, is_used: false })
}
