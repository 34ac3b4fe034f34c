//! Service files of libpq: sections of connection parameters, `[NAME]` with lines of `parameter=value`.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::ClientEnvironment;

/// Folder of the system-wide file, as in Debian's packages and in PostgreSQL's own.
const SYSTEM_FILES: [&str; 2] =
    ["/etc/postgresql-common/pg_service.conf", "/usr/local/pgsql/etc/pg_service.conf"];
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Parameters of a service with their values, in the order of the file.
pub(super) type Service = Vec<(String, String)>;

/// Looks up a service in the files that libpq reads: `file` or the file in the home folder, and then the system-wide one.
///
/// # Errors
///
/// The error and its help: a file cannot be read or parsed, or no file has the service.
pub(super) fn look_up(
    name: &str,
    file: Option<&str>,
    environment: &ClientEnvironment<'_>,
) -> Result<Service, (String, String)> {
    let own = || Some(Path::new(&environment.variable("HOME")?).join(".pg_service.conf"));
    let own = file.map(PathBuf::from).or_else(own);
    let system =
        environment.variable("PGSYSCONFDIR").map(|folder| Path::new(&folder).join("pg_service.conf"));
    let system = system.map_or_else(|| SYSTEM_FILES.map(PathBuf::from).to_vec(), |path| vec![path]);
    let files: Vec<PathBuf> = own.into_iter().chain(system).collect();
    for path in &files {
        let shown = path.display();
        let text = match fs::metadata(path) {
            Ok(about) if about.is_file() && about.len() <= FILE_BYTES_MAX => fs::read(path),
            Err(error) if file.is_some_and(|file| Path::new(file) == path) => Err(error),
            _ => continue,
        };
        let text = text.map_err(|error| {
            (format!("the service file {shown} cannot be read: {error}"), HELP.to_owned())
        })?;
        if let Some(service) = find(&String::from_utf8_lossy(&text), name) {
            return service
                .map_err(|(line, what)| (format!("{shown}, line {line}: {what}"), HELP.to_owned()));
        }
    }
    let looked: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let what = format!("there is no service {name:?} in {}", looked.join(", "));
    Err((
        what,
        format!("add a section [{name}] with lines such as host=HOST, or name the file in PGSERVICEFILE"),
    ))
}

const HELP: &str = "write sections [NAME] with lines of parameter=value";

/// Parameters of a section, or the line that is wrong and why. `None` if the file lacks the section.
fn find(text: &str, name: &str) -> Option<Result<Service, (usize, &'static str)>> {
    let mut service: Option<Service> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            match section.strip_suffix(']') {
                _ if service.is_some() => break,
                Some(section) if section == name => service = Some(Vec::new()),
                _ => {}
            }
            continue;
        }
        let Some(service) = &mut service else { continue };
        match line.split_once('=') {
            Some(("service" | "servicefile", _)) => {
                return Some(Err((number + 1, "a service cannot name another")));
            }
            Some((key, value)) => service.push((key.to_owned(), value.to_owned())),
            None => return Some(Err((number + 1, "there is no ="))),
        }
    }
    service.map(Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_ends_where_next_begins() {
        let text = "# all\n[a]\nhost=one\nport=5433\n\n[b]\nhost = two\n[c]\nservice=a\n[d]\nhost\n";
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(find(text, "a"), Some(Ok(vec![pair("host", "one"), pair("port", "5433")])));
        assert_eq!(find(text, "c"), Some(Err((9, "a service cannot name another"))));
        assert_eq!(find(text, "d"), Some(Err((11, "there is no ="))));
        assert_eq!(find(text, "e"), None);
    }
}
