//! Builds the request and its peer from a URL and flags.

use std::net::{IpAddr, Ipv6Addr};
use wire::masking::mask_query_secrets;

use percent_encoding::percent_decode_str;
use url::{Host, Url};
use wire::sql::Secret;
use wire::step::{Access, ExtraKeys, FlagStep, Site, StepDefinition, StepValueError, requests};
use wire::{Protocol, Scheme, braces};

use crate::command_mix::CommandMix;
use crate::database::{self, ClientEnvironment, redacted_url};
use crate::draft::{Draft, TlsSpec};
use crate::endpoint::{ClientCertificate, Peer, Trust};
use crate::fault::Fault;
use crate::plan::{OwnedAction, Plan};
use crate::query_step;
use crate::spec::{ExpectSpec, InvalidText, Spanned};
use crate::units;
use crate::url_correction::{corrected, correction};

/// A request and its peer.
pub(crate) struct Target {
    pub(crate) title: String,
    /// Name of the step.
    pub(crate) name: String,
    pub(crate) peer: Peer,
    pub(crate) protocol: &'static Protocol,
    pub(crate) sends: RequestSource,
}

/// Requests that a URL and flags define.
pub(crate) enum RequestSource {
    /// A step.
    Step(OwnedAction),
    /// Commands on random keys, in the order of the steps of the mix.
    Commands(Vec<OwnedAction>, Box<CommandMix>),
}

/// Reads a URL, and the flags of its request.
pub(crate) fn target(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Target> {
    let url = url(&draft.url, faults);
    let find_scheme = url.as_ref().and_then(|url| wire::find_scheme(url.scheme()));
    let further = find_scheme.and_then(|(protocol, _)| protocol.extra_keys());
    let target = match (&url, find_scheme, further) {
        (Some(url), Some(find_scheme), Some(further)) => {
            return step_of_flags(draft, url, find_scheme, further, faults);
        }
        (Some(url), Some((protocol, _)), None) => protocol.own_steps().and_then(|own| {
            let peer = peer(draft, url, faults)?;
            let body = body(draft, faults);
            step_of_query(draft, url, peer, body, (protocol, own), faults)
        }),
        _ => None,
    };
    faults.extend(check_unsent(draft));
    target
}

/// Errors in the checks of a request that is not sent.
fn check_unsent(draft: &Draft) -> Vec<Fault> {
    let Some(further) = wire::step::requests().extra_keys() else { return Vec::new() };
    let mut wrong = Vec::new();
    (further.read_flags)(
        &FlagStep { method: "", target: "/", headers: &[], body: None, ..flags(draft) },
        &mut wrong,
    );
    wrong.retain(|wrong| !wrong.path.is_empty());
    wrong.into_iter().map(fault).collect()
}

/// Flags of a step, without its request.
fn flags(draft: &Draft) -> FlagStep<'_> {
    FlagStep {
        method: "",
        target: "/",
        headers: &[],
        body: None,
        expect: draft.expects.texts(),
        size_bytes: |text| units::size_bytes(text).map_err(|what| InvalidText::from(what).what),
    }
}

/// Error in a step of flags.
fn fault(wrong: StepValueError) -> Fault {
    let place = wrong.path.last().map_or("request", |key| ExpectSpec::flag(key));
    Fault::new(place, wrong.what, wrong.help)
}

/// Load of a request that flags describe.
fn step_of_flags(
    draft: &Draft,
    url: &Url,
    (protocol, scheme): (&'static Protocol, &'static Scheme),
    further: &ExtraKeys,
    faults: &mut Vec<Fault>,
) -> Option<Target> {
    let peer = peer(draft, url, faults)?;
    let path = path(url);
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let body = body(draft, faults);
    let method =
        draft.method.clone().unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
    let headers = headers(&draft.headers, "-H", faults);
    let credentials = credentials(url);
    let is_authorized = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    if credentials.is_some() && is_authorized {
        let what = "both the URL and a header contain credentials";
        let help = "remove the user and the password from the URL";
        faults.push(Fault::new("-H Authorization", what, help));
    }
    let keep_alive = draft.load.keep_alive.as_ref().and_then(Spanned::get) != Some(&false);
    let site = Site {
        host: authority.to_owned(),
        credentials,
        is_secure: scheme.is_secure,
        keep_alive,
        ..Site::default()
    };
    let given =
        FlagStep { method: &method, target: path, headers: &headers, body: body.as_deref(), ..flags(draft) };
    let mut wrong = Vec::new();
    let step = (further.read_flags)(&given, &mut wrong);
    faults.extend(wrong.into_iter().map(fault));
    let mut action = OwnedAction { protocol: Some(protocol), step, host: String::new(), keep_alive };
    action.send_to(&site);
    let place = draft.unix_socket.as_ref().map(|path| format!(" over {}", path.display()));
    let listed: Vec<String> = peer.addresses.iter().map(ToString::to_string).collect();
    let place = place.unwrap_or_else(|| match listed.is_empty() {
        true => String::new(),
        false => format!(" at {}", listed.join(", ")),
    });
    let shown = mask_query_secrets(path);
    let title = format!("{method} {}://{authority}{shown}{place}", url.scheme());
    Some(Target {
        title,
        name: format!("{method} {shown}"),
        peer,
        protocol,
        sends: RequestSource::Step(action),
    })
}

/// Path and query of a URL.
fn path(url: &Url) -> &str {
    match &url[url::Position::BeforePath..url::Position::AfterQuery] {
        "" => "/",
        path => path,
    }
}

/// Properties of a system's URL that its steps inherit. `plan` is the plan of a load on the URL alone. `None` for a database.
pub(crate) fn site(url: &str, plan: &Plan) -> Option<Site> {
    let action = plan.steps.first()?.owned()?;
    let url = read_url(url).ok()?;
    Some(Site {
        host: action.host.clone(),
        other_hosts: Vec::new(),
        path: path(&url).to_owned(),
        credentials: credentials(&url),
        is_secure: plan.endpoint().peer().tls.is_some(),
        keep_alive: action.keep_alive,
    })
}

/// Load in a protocol that owns its steps. The query of the URL is the step.
fn step_of_query(
    draft: &Draft,
    url: &Url,
    peer: Peer,
    body: Option<Vec<u8>>,
    (protocol, own): (&'static Protocol, &'static StepDefinition),
    faults: &mut Vec<Fault>,
) -> Option<Target> {
    let of_http = [("-X", draft.method.is_some()), ("-H", !draft.headers.is_empty())];
    let has_body = ("-b", body.is_some() && own.body.is_none());
    let given = of_http.into_iter().chain(draft.expects.given()).chain([has_body]);
    for (flag, _) in given.filter(|(_, is_given)| *is_given) {
        let noun = wire::step::requests().noun();
        let what = format!("it applies to {noun}, and the URL is that of {}", own.noun);
        faults.push(Fault::new(flag, what, "remove it"));
    }
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let keep_alive = draft.load.keep_alive.as_ref().and_then(Spanned::get) != Some(&false);
    let action =
        |step| OwnedAction { protocol: Some(protocol), step, host: authority.to_owned(), keep_alive };
    if let Some(workload) = own.workload.filter(|_| !query_step::has_step(url, own) && body.is_none()) {
        let mix = draft.command_mix.check(workload, faults)?;
        let title = format!("{} on {}://{authority}", mix.title, url.scheme());
        let actions = mix.steps.iter().cloned().map(action).collect();
        let (name, sends) = (mix.title.clone(), RequestSource::Commands(actions, Box::new(mix)));
        return Some(Target { title, name, peer, protocol, sends });
    }
    for (flag, _) in draft.command_mix.given().into_iter().filter(|(_, is_given)| *is_given) {
        faults.push(Fault::new(flag, "the query of the URL is the step", "remove one of the two"));
    }
    let step = query_step::read(url, own, body.as_deref());
    let step = step.map_err(|wrong| faults.push(Fault::new(wrong.part, wrong.what, wrong.help))).ok()?;
    let name = step.title();
    let title = format!("{name} to {}://{authority}", url.scheme());
    let sends = RequestSource::Step(action(step));
    Some(Target { title, name, peer, protocol, sends })
}

/// Peer of a URL.
fn peer(draft: &Draft, url: &Url, faults: &mut Vec<Fault>) -> Option<Peer> {
    let tls = trust(draft, url, faults);
    let host = match url.host()? {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => Ipv6Addr::to_string(&address),
    };
    let (protocol, scheme) = wire::find_scheme(url.scheme())?;
    let port = url.port().unwrap_or(scheme.port);
    Some(Peer {
        addresses: addresses(draft, &host, port, faults),
        unix_socket: draft.unix_socket.clone(),
        certificate: certificate(draft).filter(|_| tls.is_some()),
        resumes_tls: draft.tls.resume_tls,
        access: access(url, protocol, faults),
        host,
        port,
        tls,
    })
}

/// Client certificate. `None` if none is given.
fn certificate(draft: &Draft) -> Option<ClientCertificate> {
    let cert = draft.tls.cert.clone()?;
    Some(ClientCertificate { cert, key: draft.tls.key.clone() })
}

/// Log-in from a URL, if its protocol has a log-in. The environment provides a password that the URL omits.
fn access(url: &Url, protocol: &Protocol, faults: &mut Vec<Fault>) -> Access {
    let Some(log_in) = protocol.steps().and_then(|steps| steps.log_in) else { return Access::none() };
    let access = access_of(url);
    if let Err(wrong) = (log_in.check)(&access) {
        faults.push(Fault::new("URL", wrong.what, wrong.help));
    }
    let from_environment =
        || ClientEnvironment::from_process().variable(log_in.password_variable).map(Secret);
    Access { password: access.password.or_else(from_environment), ..access }
}

/// Options of the log-in in the query of a URL, in order.
fn log_in_options(url: &Url) -> Vec<(String, String)> {
    let own = wire::find_scheme(url.scheme()).and_then(|(protocol, _)| protocol.steps());
    let known = own.map_or(&[][..], StepDefinition::options);
    let is_option = |name: &str| known.iter().any(|option| option.eq_ignore_ascii_case(name));
    let options = url.query_pairs().filter(|(name, _)| is_option(name));
    options.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// Whether connections to a URL start with TLS, because of its scheme or an option.
fn is_secure(url: &Url) -> bool {
    let Some((protocol, scheme)) = wire::find_scheme(url.scheme()) else { return false };
    let log_in = protocol.steps().and_then(|steps| steps.log_in);
    scheme.is_secure || log_in.is_some_and(|log_in| (log_in.requires_tls)(&access_of(url)))
}

/// User, password, path, and options of a URL, decoded.
pub(crate) fn access_of(url: &Url) -> Access {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Access {
        user: Some(url.username()).filter(|user| !user.is_empty()).map(decoded),
        password: url.password().map(decoded).map(Secret),
        path: decoded(url.path().trim_start_matches('/')),
        options: log_in_options(url),
        scheme: url.scheme().to_owned(),
    }
}

/// IP addresses that `--resolve HOST:PORT:ADDRESS[,ADDRESS]` gives for a host. Empty if the host is looked up.
fn addresses(draft: &Draft, host: &str, port: u16, faults: &mut Vec<Fault>) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for text in &draft.resolve {
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        let read = match parts[..] {
            [name, at, list] => at.parse::<u16>().ok().zip(ips(list)).map(|(at, ips)| (name, at, ips)),
            _ => None,
        };
        let fault = match read {
            Some((name, at, ips)) if name.eq_ignore_ascii_case(host) && at == port => {
                addresses.extend(ips.into_iter().filter(|ip| !addresses.contains(ip)).collect::<Vec<_>>());
                continue;
            }
            Some(_) => {
                let help = format!("write --resolve {host}:{port}:ADDRESS, or leave it out");
                Fault::new("--resolve", format!("{text:?} is for another host or port than the URL"), help)
            }
            None => {
                let help = format!("write --resolve {host}:{port}:127.0.0.1");
                Fault::new("--resolve", format!("{text:?} is not HOST:PORT:ADDRESS[,ADDRESS]"), help)
            }
        };
        faults.push(fault);
    }
    addresses
}

/// Parses IP addresses separated by commas. `None` if any address is invalid.
fn ips(list: &str) -> Option<Vec<IpAddr>> {
    list.split(',').map(|text| ip(text.trim())).collect()
}

/// Parses `127.0.0.1`, `::1`, or `[::1]`.
fn ip(text: &str) -> Option<IpAddr> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.unwrap_or(text).parse().ok()
}

/// Escapes braces, so that a plan reads the text literally.
pub fn escape_braces(text: &str) -> String {
    String::from_utf8_lossy(&braces::literal(text.as_bytes())).into_owned()
}

/// `name:password` from a URL, decoded. `None` if the URL has no user.
fn credentials(url: &Url) -> Option<Vec<u8>> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    Some([decoded(url.username()), b":".to_vec(), decoded(url.password().unwrap_or_default())].concat())
}

/// Reason why a text is not a URL that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UrlProblem {
    /// The URL has no scheme, so the text may not be a URL.
    NoScheme,
    /// The scheme is unknown.
    UnknownScheme,
    /// The port is 0.
    PortZero,
    /// Any other error.
    InvalidText(String),
}

/// URL that a malformed text probably means.
pub(crate) fn corrected_url(text: &str) -> Option<String> {
    corrected(text, &known_schemes())
}

/// Schemes that can be loaded.
fn known_schemes() -> Vec<&'static str> {
    wire::schemes(true).map(|scheme| scheme.name).chain(database::schemes()).collect()
}

impl UrlProblem {
    /// Correction for the command line. `None` if the text gives no hint.
    fn correction(&self, text: &str) -> Option<String> {
        match self {
            Self::PortZero => None,
            Self::NoScheme => correction(text, &known_schemes())
                .or_else(|| is_host_and_path(text).then(|| format!("write http://{}", redacted_url(text)))),
            Self::UnknownScheme | Self::InvalidText(_) => correction(text, &known_schemes()),
        }
    }

    /// Message for places that accept only a URL.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::NoScheme => "this is not a URL".to_owned(),
            Self::UnknownScheme => {
                format!("unknown URL scheme; known are {}", known_schemes().join(", "))
            }
            Self::PortZero => "port 0 cannot be connected to".to_owned(),
            Self::InvalidText(error) => format!("this is not a URL: {error}"),
        }
    }
}

/// Whether a text looks like a host name with a path: `www.example.com/index.html`.
fn is_host_and_path(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    text.contains(['.', '/'])
        && host.starts_with(|first: char| first.is_ascii_alphanumeric())
        && host.bytes().all(is_plain)
}

/// Parses a URL with a known scheme.
pub(crate) fn read_url(text: &str) -> Result<Url, UrlProblem> {
    let is_known = |scheme: &str| {
        wire::find_scheme(scheme).is_some() || database::schemes().any(|known| known == scheme)
    };
    // The WHATWG URL standard reads `http:/x` as `http://x`. The user more likely meant a path, or forgot the host.
    let mut schemes = requests().schemes.iter().map(|scheme| scheme.name);
    if let Some(scheme) = schemes.find(|scheme| {
        let rest = text.strip_prefix(*scheme).and_then(|rest| rest.strip_prefix(':'));
        rest.is_some_and(|rest| !rest.starts_with("//"))
    }) {
        return Err(UrlProblem::InvalidText(format!("{scheme}: is not followed by //")));
    }
    match Url::parse(text) {
        Ok(url) if url.host_str().is_none_or(str::is_empty) || !is_known(url.scheme()) => {
            Err(UrlProblem::UnknownScheme)
        }
        Ok(url) if url.port() == Some(0) => Err(UrlProblem::PortZero),
        Ok(url) => Ok(url),
        Err(url::ParseError::RelativeUrlWithoutBase) => Err(UrlProblem::NoScheme),
        Err(error) => Err(UrlProblem::InvalidText(error.to_string())),
    }
}

/// Error for a text on the command line that is not the URL of a server. `None` if it is one.
pub fn url_fault(text: &str) -> Option<Fault> {
    let mut faults = Vec::new();
    url(text, &mut faults);
    faults.pop()
}

fn url(text: &str, faults: &mut Vec<Fault>) -> Option<Url> {
    let generic = "write http://HOST[:PORT]/PATH or https://…; `tenbin --help` lists the commands";
    if let Some(Err((what, help))) = database::connection_string_url(text) {
        faults.push(Fault::new(format!("{:?}", redacted_url(text)), what, help));
        return None;
    }
    let fault = |problem: UrlProblem| {
        let help = problem.correction(text).unwrap_or_else(|| generic.to_owned());
        let what = match &problem {
            UrlProblem::NoScheme => "this is neither a command nor a URL".to_owned(),
            problem => problem.what(),
        };
        Fault::new(format!("{:?}", redacted_url(text)), what, help)
    };
    read_url(text).map_err(|problem| faults.push(fault(problem))).ok()
}

fn trust(draft: &Draft, url: &Url, faults: &mut Vec<Fault>) -> Option<Trust> {
    let is_secure = is_secure(url);
    let TlsSpec { insecure, cacert, cert, key, resume_tls: _ } = &draft.tls;
    let given = draft.tls.flags().into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    if let Some(flag) = given.filter(|_| !is_secure) {
        let what = "the URL is http: there is no TLS";
        faults.push(Fault::new(flag, what, "remove it, or write https://"));
    }
    if let (Some(_), None) = (key, cert) {
        let help = "add --cert FILE with the certificate of this key";
        faults.push(Fault::new("--key", "it requires a client certificate", help));
    }
    match (cacert, insecure) {
        (Some(_), true) => {
            let what = "one verifies certificates and the other does not";
            faults.push(Fault::new("--cacert and --insecure", what, "use one of them"));
            None
        }
        _ if !is_secure => None,
        (Some(path), false) => Some(Trust::Authorities(path.clone())),
        (None, true) => Some(Trust::Anything),
        (None, false) => Some(Trust::System),
    }
}

fn body(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Vec<u8>> {
    match (&draft.body, &draft.body_file) {
        (Some(_), Some(file)) => {
            let place = format!("--body and {}", file.flag);
            faults.push(Fault::new(place, "both set the body", "use one of them"));
            None
        }
        (Some(body), None) => Some(body.clone()),
        (None, Some(file)) => file.read().map_err(|fault| faults.push(fault)).ok(),
        (None, None) => None,
    }
}

fn headers(lines: &[String], flag: &str, faults: &mut Vec<Fault>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for line in lines {
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
            None => {
                // The rest of the line may be a secret.
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                let dots = if rest.is_empty() { "" } else { " …" };
                let what = format!("\"{}{dots}\" has no colon", word.escape_debug());
                faults.push(Fault::new(flag, what, "write -H 'Name: value'"));
            }
        }
    }
    headers
}
