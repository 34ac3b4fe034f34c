//! Log-in of the connections to a system: user, password, and path of its URL.

use alloc::string::String;

use crate::secrets::Secrets;
use crate::sql::Secret;
use crate::step::WrongValue;

/// Log-in of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// User name. `None` if the URL has none.
    pub user: Option<String>,
    /// Password. `None` if there is none.
    pub password: Option<Secret>,
    /// Path of the URL without its first slash, such as a database number.
    pub path: String,
}

impl Access {
    /// Creates an empty log-in.
    pub const fn none() -> Self {
        Self { user: None, password: None, path: String::new() }
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
            path: self.path.clone(),
        }
    }
}

/// Log-in properties of a protocol, for the URL of a system.
#[derive(Clone, Copy, Debug)]
pub struct LogIn {
    /// Environment variable with the password for URLs without one.
    pub password_variable: &'static str,
    /// Function that checks the log-in in a URL.
    pub check: fn(&Access) -> Result<(), WrongValue>,
}
