//! Log-in of the connections to a system: user, password, and path of its URL.

use alloc::string::String;
use alloc::vec::Vec;

use crate::secrets::Secrets;
use crate::sql::Secret;
use crate::step::StepValueError;

/// Log-in of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Scheme of the URL. Empty if it is unknown.
    pub scheme: String,
    /// User name. `None` if the URL has none.
    pub user: Option<String>,
    /// Password. `None` if there is none.
    pub password: Option<Secret>,
    /// Path of the URL without its first slash, such as a database number.
    pub path: String,
    /// Options in the query of the URL, in order.
    pub options: Vec<(String, String)>,
}

impl Access {
    /// Creates an empty log-in.
    pub const fn none() -> Self {
        Self { scheme: String::new(), user: None, password: None, path: String::new(), options: Vec::new() }
    }

    /// Value of an option. Names are compared without case. `None` if it is absent.
    pub fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Replaces names in braces with their secrets: a plan writes a password as `{env.NAME}`.
    #[must_use]
    pub fn filled(&self, secrets: &Secrets) -> Self {
        let filled = |text: &String| {
            let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            name.and_then(|name| secrets.get(name)).map_or_else(|| text.clone(), String::from)
        };
        Self {
            user: self.user.as_ref().map(filled),
            password: self.password.as_ref().map(|password| Secret(filled(&password.0))),
            scheme: self.scheme.clone(),
            path: self.path.clone(),
            options: self.options.clone(),
        }
    }
}

/// Log-in properties of a protocol, for the URL of a system.
#[derive(Clone, Copy, Debug)]
pub struct LogIn {
    /// Environment variable with the password for URLs without one.
    pub password_variable: &'static str,
    /// Names of the options that the query of a URL may have.
    pub options: &'static [&'static str],
    /// Whether the options of a URL require TLS.
    pub requires_tls: fn(&Access) -> bool,
    /// Function that checks the log-in in a URL.
    pub check: fn(&Access) -> Result<(), StepValueError>,
}
