//! The password file of PostgreSQL's clients: lines of `host:port:database:user:password`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wire::sql::Secret;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// Log-in to look up a password for.
pub(super) struct PasswordQuery<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// Result of a look-up in a password file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PassfileEntry {
    /// No line matches, or the file does not exist.
    Nothing,
    /// The password.
    Password(Secret),
    /// A password in a file that other users may read.
    Exposed,
}

/// Looks up a password. As in PostgreSQL's own clients, a file that other users may read is ignored.
pub(super) fn look_up(path: &Path, query: &PasswordQuery<'_>) -> PassfileEntry {
    let Ok(about) = fs::metadata(path) else { return PassfileEntry::Nothing };
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return PassfileEntry::Nothing;
    }
    let text = fs::read(path).unwrap_or_default();
    match find(&String::from_utf8_lossy(&text), query) {
        Some(_) if about.permissions().mode() & 0o077 != 0 => PassfileEntry::Exposed,
        Some(password) => PassfileEntry::Password(Secret(password)),
        None => PassfileEntry::Nothing,
    }
}

fn find(text: &str, query: &PasswordQuery<'_>) -> Option<String> {
    let port = query.port.to_string();
    let wanted = [query.host, &port, query.database, query.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let matches_query = fields.len() == 5
            && wanted.iter().zip(&fields).all(|(wanted, (field, is_any))| *is_any || field == wanted);
        matches_query.then(|| fields[4].0.clone())
    })
}

/// Fields of a line, and whether each is an unescaped `*`. A backslash escapes the next character.
fn fields(line: &str) -> Vec<(String, bool)> {
    let mut fields = vec![(String::new(), false)];
    let mut characters = line.trim_end_matches(['\r', '\n']).chars();
    while let Some(character) = characters.next() {
        let count = fields.len();
        let Some((field, is_any)) = fields.last_mut() else { break };
        match character {
            ':' if count < 5 => fields.push((String::new(), false)),
            '\\' => {
                *is_any = false;
                field.extend(characters.next());
            }
            plain => {
                *is_any = field.is_empty() && plain == '*';
                field.push(plain);
            }
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_matching_line_wins() {
        let text = "# passwords\nother:5432:db:me:1\nlocalhost:*:*:me:a\\:b\\\\c:d\n*:*:*:*:last\nbroken";
        let query = |host| PasswordQuery { host, port: 5432, database: "db", user: "me" };
        assert_eq!(find(text, &query("other")).as_deref(), Some("1"));
        assert_eq!(find(text, &query("localhost")).as_deref(), Some("a:b\\c:d"));
        assert_eq!(find(text, &query("third")).as_deref(), Some("last"));
        assert_eq!(find("**:*:*:*:x\n\\*:*:*:*:y", &query("h")), None, "only a star by itself fits anything");
    }

    #[test]
    fn ignores_file_that_others_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        let query = PasswordQuery { host: "h", port: 1, database: "d", user: "u" };
        assert_eq!(look_up(&path, &query), PassfileEntry::Nothing);
        fs::write(&path, "h:1:d:u:pw\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(look_up(&path, &query), PassfileEntry::Exposed);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(look_up(&path, &query), PassfileEntry::Password(Secret("pw".to_owned())));
        assert_eq!(look_up(folder.path(), &query), PassfileEntry::Nothing);
    }
}
