//! Finds the processes of a Docker or Podman container by its control group, whose name contains the container ID.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::listening::UnreadableSystem;

/// Mount point of control groups, version 1 and 2.
pub(crate) const GROUPS: &str = "/sys/fs/cgroup";
/// Prefixes that container engines put before the ID, followed by `-`. systemd appends `.scope`.
const ENGINES: [&str; 5] = ["docker", "libpod", "cri-containerd", "crio", "nerdctl"];
const SCOPE: &str = ".scope";
const ID_DIGITS: usize = 64;
/// Length of the short ID that engines show.
const SHORT_ID_DIGITS: usize = 12;
const NAME_CHARS_MAX: usize = 255;
/// Limits of the search in a large or deep tree of groups.
const GROUPS_MAX: usize = 50_000;
const DEPTH_MAX: usize = 12;

/// Returns the processes of a container in ascending order, at least one.
///
/// # Errors
///
/// The name is invalid, or no process is found.
pub(crate) fn processes(container: &str) -> Result<Vec<u32>, UnreadableSystem> {
    processes_in(Path::new(GROUPS), container, look_up_id)
}

fn processes_in(
    root: &Path,
    container: &str,
    look_up_id: impl Fn(&str) -> Option<String>,
) -> Result<Vec<u32>, UnreadableSystem> {
    let list = "list those that run: docker ps --no-trunc, or podman ps --no-trunc";
    if let Some(what) = name_error(container) {
        return Err(UnreadableSystem::here(what).with_help(format!("write a name or an ID, and {list}")));
    }
    let is_id = container.len() >= SHORT_ID_DIGITS && is_hex(container);
    let found = if is_id { find_groups(root, container) } else { BTreeMap::new() };
    let (id, groups) = match (found.len(), is_id) {
        (1, true) => found.into_iter().next().unwrap_or_default(),
        (2.., true) => {
            let what = format!("{} containers have an ID that begins with {container}", found.len());
            return Err(UnreadableSystem::here(what).with_help(format!("write more digits, and {list}")));
        }
        _ => {
            let id = look_up_id(container).filter(|id| id.len() == ID_DIGITS && is_hex(id));
            let Some(id) = id else {
                let what = format!("no running container has the name or ID {container}");
                return Err(UnreadableSystem::here(what).with_help(list));
            };
            let groups = find_groups(root, &id).remove(&id).unwrap_or_default();
            (id, groups)
        }
    };
    let pids: BTreeSet<u32> = groups.iter().flat_map(|group| pids_below(group)).collect();
    if pids.is_empty() {
        let short = &id[..SHORT_ID_DIGITS.min(id.len())];
        let what = format!("no control group below {} has processes of container {short}", root.display());
        return Err(
            UnreadableSystem::here(what).with_help("start it, and run Tenbin on the machine where it runs")
        );
    }
    Ok(pids.into_iter().collect())
}

/// Returns why a text is not a valid container name. The text is escaped, so that it cannot affect a terminal.
fn name_error(container: &str) -> Option<String> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    let begins_well = container.starts_with(|first: char| first.is_ascii_alphanumeric());
    let fits = container.len() <= NAME_CHARS_MAX;
    let is_name = begins_well && fits && container.chars().all(is_plain);
    (!is_name).then(|| {
        let shown: String = container.chars().take(40).collect();
        format!("{shown:?} is no name of a container")
    })
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Control groups of all containers whose ID starts with `id`, by ID. In version 1, a container has one group in each hierarchy.
fn find_groups(root: &Path, id: &str) -> BTreeMap<String, Vec<PathBuf>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for group in groups_below(root) {
        let own = group.file_name().and_then(|name| parse_id(name.to_str()?));
        if let Some(own) = own.filter(|own| own.starts_with(id)) {
            found.entry(own.to_owned()).or_default().push(group);
        }
    }
    found
}

/// Extracts the ID from the name of a group: `ID`, `docker-ID.scope`, or `libpod-ID`. Returns `None` for helpers, such as
/// `libpod-conmon-ID.scope`.
fn parse_id(name: &str) -> Option<&str> {
    let name = name.strip_suffix(SCOPE).unwrap_or(name);
    let id = match name.rsplit_once('-') {
        Some((engine, id)) => ENGINES.contains(&engine).then_some(id)?,
        None => name,
    };
    (id.len() == ID_DIGITS && is_hex(id)).then_some(id)
}

/// Returns a directory and all directories below it. Does not follow symbolic links.
fn groups_below(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut next) = (Vec::new(), vec![(root.to_path_buf(), 0)]);
    while let Some((folder, depth)) = next.pop() {
        if found.len() >= GROUPS_MAX {
            break;
        }
        if depth < DEPTH_MAX {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            next.extend(folders.map(|entry| (entry.path(), depth + 1)));
        }
        found.push(folder);
    }
    found
}

/// Processes in a group and in its descendants. A process of another PID namespace appears as 0, and is omitted.
fn pids_below(group: &Path) -> Vec<u32> {
    let text = |group: PathBuf| fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let pids = |text: String| text.lines().filter_map(|line| line.trim().parse().ok()).collect::<Vec<u32>>();
    groups_below(group).into_iter().map(text).flat_map(pids).filter(|pid| *pid > 0).collect()
}

/// Asks the container engines for the ID, because only they know names.
fn look_up_id(name: &str) -> Option<String> {
    ["docker", "podman"].into_iter().find_map(|engine| {
        let mut command = Command::new("timeout");
        command.args(["5", engine, "container", "inspect", "--format", "{{.Id}}", "--", name]);
        let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "4f1e9a0c77d2b35566778899aabbccddeeff00112233445566778899aabbccdd";
    const SECOND: &str = "4f1e9a0c77d2ffff66778899aabbccddeeff00112233445566778899aabbccdd";

    /// Creates a tree of groups from paths and the processes in them.
    fn machine(groups: &[(String, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, pids) in groups {
            let folder = root.path().join(path);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("cgroup.procs"), pids).expect("a file");
        }
        root
    }

    fn found(groups: &[(String, &str)], container: &str) -> Result<Vec<u32>, String> {
        let root = machine(groups);
        let by_name = |name: &str| (name == "shop_db.1").then(|| FIRST.to_owned());
        processes_in(root.path(), container, by_name).map_err(|unseen| unseen.because())
    }

    #[test]
    fn containers_are_found_in_every_layout() {
        let paths = [
            format!("system.slice/docker-{FIRST}.scope"),
            format!("memory/docker/{FIRST}"),
            format!("machine.slice/libpod-{FIRST}.scope"),
            format!("user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{FIRST}.scope"),
            format!("libpod_parent/libpod-{FIRST}"),
            format!("kubepods.slice/kubepods-pod1.slice/cri-containerd-{FIRST}.scope"),
        ];
        for path in paths {
            let other = (format!("system.slice/docker-{}.scope", FIRST.replace("4f", "5f")), "9\n");
            let groups = [(path.clone(), "70\n80\n"), other];
            for container in [FIRST, &FIRST[..12], "shop_db.1"] {
                assert_eq!(found(&groups, container), Ok(vec![70, 80]), "{path} {container}");
            }
        }
    }

    #[test]
    fn processes_of_all_hierarchies_count_once_and_helpers_are_excluded() {
        let groups = [
            (format!("cpu/docker/{FIRST}"), "70\n"),
            (format!("memory/docker/{FIRST}"), "70\n71\n0\n"),
            (format!("memory/docker/{FIRST}/init.scope"), "72\nnonsense\n"),
            (format!("machine.slice/libpod-conmon-{FIRST}.scope"), "60\n"),
        ];
        assert_eq!(found(&groups, FIRST), Ok(vec![70, 71, 72]));
    }

    #[test]
    fn missing_or_ambiguous_container_is_an_error_with_help() {
        let both =
            [(format!("docker/{FIRST}"), "70\n"), (format!("system.slice/docker-{SECOND}.scope"), "80\n")];
        let because = found(&both, &FIRST[..12]).expect_err("two of them");
        assert!(
            because.starts_with("2 containers have an ID that begins with 4f1e9a0c77d2; write"),
            "{because}"
        );
        assert_eq!(found(&both, &FIRST[..14]), Ok(vec![70]));
        for short in ["4f1e", "4f1e9a0c77d", "web"] {
            let because = found(&both, short).expect_err("no such name");
            assert!(because.starts_with("no running container has the name or ID"), "{because}");
            assert!(because.contains("; list those that run: docker ps"), "{because}");
        }
        let because = found(&[(format!("docker/{FIRST}"), "")], FIRST).expect_err("it ended");
        assert!(because.contains("has processes of container 4f1e9a0c77d2; start it"), "{because}");
    }

    #[test]
    fn invalid_names_are_not_passed_to_files_or_programs() {
        let root = machine(&[(format!("docker/{FIRST}"), "70\n")]);
        let long = "a".repeat(300);
        for name in ["", "../docker", "-v", "a\nb", "a b", "$(id)", "\u{1b}[2J", "/", "é", &long] {
            let asked = |_: &str| -> Option<String> { panic!("{name:?} was passed on") };
            let unseen = processes_in(root.path(), name, asked).expect_err("no name");
            assert!(unseen.because().contains("is no name of a container; write"), "{unseen:?}");
            assert!(!unseen.because().contains(['\n', '\u{1b}']), "{unseen:?}");
        }
    }
}
