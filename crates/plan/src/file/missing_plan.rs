//! Suggests a replacement for the name of a plan file that does not exist.

use std::collections::BTreeSet;
use std::path::Path;

use super::near::nearest;

/// Max entries of the folder that are read.
const ENTRIES_MAX: usize = 1_000;
/// Max plan files that are suggested.
const SUGGESTED_MAX: usize = 3;
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Help for the error.
pub(crate) fn help(path: &Path) -> String {
    let text = path.display().to_string();
    if is_server(&text) {
        return format!(
            "for a running server, write tenbin {text}; in a plan, `url:` names it: tenbin init writes one"
        );
    }
    if text.contains('\\') {
        return format!("write / between folders: {}", wsl_path(&text));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("there is no folder {}: correct the path", folder.display());
    }
    let plans = plans_in(folder);
    let Some(wanted) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return "name a plan file, such as study.yaml".to_owned();
    };
    let stem = |name: &str| {
        Path::new(name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    };
    // Ignores extensions, because they make short names look similar.
    let stems: Vec<String> = plans.iter().map(|plan| stem(plan)).collect();
    let of_stem = |wanted: &str| stems.iter().position(|stem| stem == wanted).map(|at| plans[at].as_str());
    let distinct: BTreeSet<&str> = stems.iter().map(String::as_str).collect();
    match of_stem(&stem(&wanted)).or_else(|| of_stem(nearest(&stem(&wanted), distinct.into_iter())?)) {
        Some(near) => format!("did you mean {near}? write {}", path.with_file_name(near).display()),
        None if plans.is_empty() => "name a plan file, such as study.yaml; tenbin init writes one".to_owned(),
        None => {
            let named: Vec<&str> = plans.iter().take(SUGGESTED_MAX).map(String::as_str).collect();
            let more = if plans.len() > SUGGESTED_MAX { ", …" } else { "" };
            format!("name a plan file; the folder has {}{more}", named.join(", "))
        }
    }
}

/// Names of plan files, sorted, with YAML files first.
fn plans_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_plan = |name: &String| {
        Path::new(name).extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
    };
    let names =
        entries.flatten().take(ENTRIES_MAX).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut plans: Vec<String> = names.filter(is_plan).collect();
    plans.sort_unstable_by_key(|name| (name.ends_with(".json"), name.clone()));
    plans
}

/// Whether a text is a URL, or `HOST:PORT` with or without a path.
fn is_server(text: &str) -> bool {
    let authority = text.split('/').next().unwrap_or_default();
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    text.contains("://") || has_port || authority == "localhost"
}

/// Converts `C:\plans\a.yaml` to `/mnt/c/plans/a.yaml`, its path in WSL.
fn wsl_path(text: &str) -> String {
    let slashes = text.replace('\\', "/");
    match slashes.split_once(":/") {
        Some((drive, rest)) if drive.len() == 1 => {
            format!("/mnt/{}/{rest} in WSL", drive.to_ascii_lowercase())
        }
        _ => slashes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_plans_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let help_of = |name: &str| help(&folder.path().join(name));
        assert_eq!(help_of("a.yaml"), "name a plan file, such as study.yaml; tenbin init writes one");
        for name in ["web.yaml", "database.yml", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for (wanted, near) in
            [("wbe.yaml", "web.yaml"), ("web.yml", "web.yaml"), ("database", "database.yml")]
        {
            let expected = format!("did you mean {near}? write {}", folder.path().join(near).display());
            assert_eq!(help_of(wanted), expected);
        }
        assert_eq!(help_of("xyzzy.yaml"), "name a plan file; the folder has database.yml, web.yaml");
        assert!(help_of("none/a.yaml").starts_with("there is no folder "));
        assert!(help(Path::new("localhost:8080/a")).contains("write tenbin localhost:8080/a"));
        assert_eq!(
            help(Path::new("C:\\plans\\a.yaml")),
            "write / between folders: /mnt/c/plans/a.yaml in WSL"
        );
    }
}
