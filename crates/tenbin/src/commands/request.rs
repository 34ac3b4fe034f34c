//! Flags of an HTTP request.

mod form;
mod media;

use std::path::{Path, PathBuf};

use clap::Args;
use plan::{BodyFile, Fault, TlsSpec};

use crate::commands::list_faults;
use crate::exit::BadArguments;
use crate::output;

use media::media_type;

/// Max bytes of a body in a plan that is built from flags.
const BODY_BYTES_MAX: usize = 4 << 20;
const BY_PLAN: &str = "write a plan with `body-file`: tenbin init";

/// Flags that describe a request.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RequestFlags {
    /// Request method [default: GET, or POST with a body]
    #[arg(
        short = 'X',
        short_alias = 'm',
        long,
        value_name = "METHOD",
        help_heading = "Request",
        hide_short_help = true
    )]
    pub(crate) method: Option<String>,
    /// Request header, "Name: value"; repeatable
    #[arg(short = 'H', long = "header", value_name = "HEADER", help_heading = "Request")]
    headers: Vec<String>,
    /// Request body, sent with POST or the method of -X; @PATH reads a file
    #[arg(short, long, value_name = "TEXT", help_heading = "Request")]
    body: Option<String>,
    /// Request body with Content-Type and Accept: application/json; @PATH reads a file
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "body",
        help_heading = "Request",
        hide_short_help = true
    )]
    json: Option<String>,
    /// Request body from a file; its Content-Type follows from the name unless -H gives one
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "json",
        help_heading = "Request",
        hide_short_help = true
    )]
    body_file: Option<PathBuf>,
    /// Part of a multipart form, as curl: name=text or name=@photo.png; repeatable
    #[arg(
        short = 'F',
        long = "form",
        value_name = "NAME=VALUE",
        conflicts_with_all = ["body", "json", "body_file"],
        help_heading = "Request",
        hide_short_help = true
    )]
    form: Vec<String>,
    /// User and password of Basic authentication
    ///
    /// Other users of the machine can see the arguments of a program.
    #[arg(short = 'u', long, value_name = "USER:PASSWORD", help_heading = "Request", hide_short_help = true)]
    user: Option<String>,
    /// Cookies to send: 'name=value; other=value'
    #[arg(long, value_name = "COOKIES", help_heading = "Request", hide_short_help = true)]
    cookie: Option<String>,
}

/// HTTP request that the flags describe.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestDescription {
    pub(crate) method: Option<String>,
    /// Header lines, each `Name: value`.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) body_file: Option<BodyFile>,
    /// Words of the command line that may be secrets.
    pub(crate) secrets: Vec<String>,
    /// Note about an effect of the flags that users may not expect. `None` if there is none.
    pub(crate) note: Option<String>,
}

impl RequestFlags {
    /// First of these flags that was given. `None` if there is none.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let texts = [
            ("--method", &self.method),
            ("--body", &self.body),
            ("--json", &self.json),
            ("--user", &self.user),
            ("--cookie", &self.cookie),
        ];
        let given = texts.into_iter().find_map(|(flag, text)| text.as_ref().map(|_| flag));
        let lists = [("--header", &self.headers), ("--form", &self.form)];
        given
            .or_else(|| self.body_file.as_ref().map(|_| "--body-file"))
            .or_else(|| lists.into_iter().find_map(|(flag, list)| (!list.is_empty()).then_some(flag)))
    }

    /// Value of `-b`.
    pub(crate) fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    /// Whether `-H` sets this header.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        let names = self.headers.iter().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
        names.into_iter().any(|given| given.eq_ignore_ascii_case(name))
    }

    /// Builds the request for `url`, or returns all errors in the flags. Does not read the files of bodies.
    pub(crate) fn read(&self, url: &str) -> Result<RequestDescription, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut described = RequestDescription {
            method: self.method.clone(),
            headers: self.headers.clone(),
            body_file: self.body_file.clone().map(|path| BodyFile { flag: "--body-file", path }),
            secrets: self.secrets(),
            ..RequestDescription::default()
        };
        for (flag, text) in [("--body", &self.body), ("--json", &self.json)] {
            match text.as_deref().map(|text| text.strip_prefix('@').ok_or(text)) {
                None => {}
                // curl sends this text as it is. The name of an existing file is probably a mistake, not JSON.
                Some(Err(text)) if flag == "--json" && Path::new(text).is_file() => faults.push(Fault::new(
                    flag,
                    format!("it sends the text {text:?}, which is the name of a file"),
                    format!("write --json @{text} to send the file"),
                )),
                Some(Err(text)) => described.body = Some(text.as_bytes().to_vec()),
                Some(Ok("-")) => faults.push(Fault::new(
                    flag,
                    "standard input is not read",
                    format!("write the body to a file: {flag} @body.json"),
                )),
                Some(Ok(path)) if self.body_file.is_some() => faults.push(Fault::new(
                    format!("{flag} @{path} and --body-file"),
                    "both set the body",
                    "use one of them",
                )),
                Some(Ok(path)) => described.body_file = Some(BodyFile { flag, path: path.into() }),
            }
        }
        self.read_form(&mut described, &mut faults);
        self.add_credentials(&mut described, &mut faults);
        self.add_content_headers(&mut described, url);
        if faults.is_empty() { Ok(described) } else { Err(faults) }
    }

    /// Builds the request with its body as text, for a plan that is built from flags. `usual` begins the errors about the body.
    pub(crate) fn read_text(
        &self,
        url: &str,
        usual: &str,
    ) -> anyhow::Result<(RequestDescription, Option<String>)> {
        let described =
            self.read(url).map_err(|faults| BadArguments(list_faults(&faults, "nothing was sent")))?;
        let text = match (&described.body_file, &described.body) {
            (Some(file), _) => {
                let bytes =
                    file.read().map_err(|fault| BadArguments(list_faults(&[fault], "nothing was sent")))?;
                Some(body_as_text(bytes, &format!("{} {}", file.flag, file.path.display()), usual)?)
            }
            (None, Some(bytes)) => Some(body_as_text(bytes.clone(), "-F", usual)?),
            (None, None) => None,
        };
        described.note.iter().for_each(|note| output::note(note));
        Ok((described, text))
    }

    fn read_form(&self, described: &mut RequestDescription, faults: &mut Vec<Fault>) {
        let Some(form) = form::read(&self.form, faults) else { return };
        if self.has_header("content-type") {
            let what = "the Content-Type of a form names the boundary of its parts, and cannot be given";
            faults.push(Fault::new("-H Content-Type", what, "remove the header"));
        }
        described.headers.push(format!("Content-Type: {}", form.content_type));
        described.body = Some(form.bytes);
    }

    /// Adds the headers of `-u` and `--cookie`.
    fn add_credentials(&self, described: &mut RequestDescription, faults: &mut Vec<Fault>) {
        match self.user.as_deref() {
            None => {}
            Some(user) if !user.contains(':') => {
                let is_number = !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_digit());
                let users = if is_number { format!("; for {user} users, -c {user}") } else { String::new() };
                let help = format!("write -u {user}:PASSWORD{users}");
                faults.push(Fault::new("-u", "the password is missing", help));
            }
            Some(_) if self.has_header("authorization") => {
                let what = "both -u and a header contain credentials";
                faults.push(Fault::new("-u", what, "remove -u or -H 'Authorization: …'"));
            }
            Some(user) => {
                let value = plan::authorization(user.as_bytes());
                described.headers.extend(value.map(|value| format!("Authorization: {value}")));
            }
        }
        match self.cookie.as_deref() {
            None => {}
            Some(file) if !file.contains('=') => {
                let help =
                    "write --cookie 'name=value'; a plan with `cookies: true` keeps what the server sets";
                faults.push(Fault::new("--cookie", format!("{file:?} is not name=value"), help));
            }
            Some(cookie) => described.headers.push(format!("Cookie: {cookie}")),
        }
    }

    /// Adds the headers that follow from the body.
    fn add_content_headers(&self, described: &mut RequestDescription, url: &str) {
        let mut add = |name: &str, value: &str| {
            if !self.has_header(name) {
                described.headers.push(format!("{name}: {value}"));
            }
        };
        if self.json.is_some() {
            add("Content-Type", "application/json");
            add("Accept", "application/json");
            return;
        }
        let Some(file) = described.body_file.clone().filter(|_| plan::begins_as_request_url(url)) else {
            return;
        };
        match media_type(&file.path) {
            Some(media_type) => add("Content-Type", media_type),
            None if self.has_header("content-type") => {}
            None => {
                described.note = Some(format!(
                    "requests have no Content-Type, because the name of {} suggests none; -H 'Content-Type: …' sets it",
                    file.path.display()
                ));
            }
        }
    }

    /// Words of the command line that may be secrets: header values, bodies, and credentials.
    fn secrets(&self) -> Vec<String> {
        let headers = self.headers.iter().filter_map(|line| line.split_once(':')).map(|(_, value)| value);
        let parts = self.form.iter().filter_map(|part| part.split_once('=')).map(|(_, value)| value);
        let texts =
            [&self.body, &self.json, &self.user, &self.cookie].into_iter().filter_map(Option::as_deref);
        let words = headers.chain(parts).chain(texts).map(str::trim);
        words.filter(|word| !word.is_empty() && !word.starts_with('@')).map(str::to_owned).collect()
    }
}

/// Body as text, for a plan that is built from flags. Returns an error if it is longer than 4 MiB or not UTF-8.
fn body_as_text(bytes: Vec<u8>, place: &str, usual: &str) -> anyhow::Result<String> {
    let refused = |what: &str| BadArguments(format!("{place}: {usual}, {what}\n  help: {BY_PLAN}"));
    if bytes.len() > BODY_BYTES_MAX {
        return Err(refused("the limit is 4 MiB").into());
    }
    Ok(String::from_utf8(bytes).map_err(|_| refused("it must be UTF-8"))?)
}

/// Certificates of https://.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TlsFlags {
    /// Accept any TLS certificate; noted in the result
    #[arg(short = 'k', long, help_heading = "Request", hide_short_help = true)]
    insecure: bool,
    /// Trust the authorities and certificates in this PEM file instead of the system's
    #[arg(long, value_name = "PATH", help_heading = "Request", hide_short_help = true)]
    cacert: Option<PathBuf>,
    /// Client certificate for servers that require one, as a PEM file
    #[arg(long, value_name = "PATH", help_heading = "Request", hide_short_help = true)]
    cert: Option<PathBuf>,
    /// Private key of --cert, unless it is in the same file; PEM, not encrypted
    #[arg(long, value_name = "PATH", help_heading = "Request", hide_short_help = true)]
    key: Option<PathBuf>,
    /// Let a new connection resume the TLS session of an earlier one
    #[arg(long, help_heading = "Request", hide_short_help = true)]
    resume_tls: bool,
}

impl TlsFlags {
    /// TLS settings of the flags.
    pub(crate) fn spec(&self) -> TlsSpec {
        let Self { insecure, cacert, cert, key, resume_tls } = self.clone();
        TlsSpec { insecure, cacert, cert, key, resume_tls }
    }

    /// First of these flags that was given. `None` if there is none.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.spec().flags().into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}
