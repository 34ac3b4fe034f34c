//! Flags of one HTTP request.

use std::path::PathBuf;

use clap::Args;
use plan::TlsSpec;

/// What is asked of a server.
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
    /// Request body, sent with POST unless -X names another method
    #[arg(short, long, value_name = "TEXT", help_heading = "Request")]
    body: Option<String>,
    /// Request body with Content-Type: application/json
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "body",
        help_heading = "Request",
        hide_short_help = true
    )]
    json: Option<String>,
}

impl RequestFlags {
    /// The first of them that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let texts = [("--method", &self.method), ("--body", &self.body), ("--json", &self.json)];
        let given = texts.into_iter().find_map(|(flag, text)| text.as_ref().map(|_| flag));
        given.or_else(|| (!self.headers.is_empty()).then_some("--header"))
    }

    /// The body, however it was given.
    pub(crate) fn body(&self) -> Option<&String> {
        self.body.as_ref().or(self.json.as_ref())
    }

    /// Every header, "Name: value".
    pub(crate) fn headers(&self) -> Vec<String> {
        let is_given = |name: &str| {
            self.headers
                .iter()
                .filter_map(|line| line.split_once(':'))
                .any(|(given, _)| given.trim().eq_ignore_ascii_case(name))
        };
        let is_added = self.json.is_some() && !is_given("content-type");
        let added = is_added.then(|| "Content-Type: application/json".to_owned());
        self.headers.iter().cloned().chain(added).collect()
    }
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
}

impl TlsFlags {
    /// What they say.
    pub(crate) fn spec(&self) -> TlsSpec {
        let Self { insecure, cacert, cert, key } = self.clone();
        TlsSpec { insecure, cacert, cert, key }
    }

    /// The first of them that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.spec().flags().into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}
