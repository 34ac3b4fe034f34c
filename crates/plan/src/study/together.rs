//! Decides whether the systems of a block can be up together on this machine. They must fit into memory, and delayed writes of one
//! must not slow down the others.

use super::slices::NoSlices;
use super::{ComparisonMethod, Interleave, Launch, Study};
use crate::plan::{Action, Plan, PlannedStep};
use crate::system_kind::SystemKind;
use crate::units::{shown, size_bytes};

/// Resources of the machine for these systems. `None` means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Memory of the machine in bytes, or of the control group of this process if that is less.
    pub memory_bytes: Option<u64>,
    /// Memory that is available before the systems start, in bytes.
    pub available_bytes: Option<u64>,
    /// Whether all systems write to one disk, because their folders are not in memory.
    pub is_one_disk: bool,
}

/// Memory settings of known servers: name, and bytes per unit of a number without a unit.
const SETTINGS: [(&str, u64); 2] = [
    // PostgreSQL counts in blocks of 8 KiB.
    ("shared_buffers", 8192),
    ("innodb_buffer_pool_size", 1),
];
/// Flags of known servers that name the folder of their data: PostgreSQL, MySQL, MongoDB, Redis, and others.
const DATA_FOLDERS: [&str; 5] = ["-D", "--datadir", "--data-dir", "--dbpath", "--dir"];
/// Flag with the max heap size of a Java process.
const HEAP: &str = "-Xmx";

impl Study {
    /// Reason why variants cannot be compared in slices on this machine. `None` if they can, or if the plan does not use slices.
    /// [`Study::no_slices`] covers reasons in the plan itself. `interleave: slices` is checked only against the total memory, because its
    /// author may know better how much the systems use.
    pub fn no_slices_at(&self, place: &Place) -> Option<NoSlices> {
        self.slicing()?;
        let launches: Vec<Launch> =
            (0..self.variants.len()).map(|variant| self.launch_with_own_ports(variant)).collect();
        let is_auto = self.compare.interleave == Interleave::Auto;
        let room_bytes = if is_auto { place.available_bytes } else { place.memory_bytes };
        let is_available = is_auto && place.available_bytes < place.memory_bytes;
        // An A/B comparison tests whether one system affects the other. A best-of search does not.
        let is_one_disk = is_auto && place.is_one_disk && self.how() == ComparisonMethod::Best;
        room_bytes
            .and_then(|room_bytes| too_large(&launches, room_bytes, is_available))
            .or_else(|| shared_folder(&launches).filter(|_| is_auto))
            .or_else(|| self.shared_store(&launches).filter(|_| is_auto))
            .or_else(|| self.shared_disk(&launches).filter(|_| is_one_disk))
    }

    /// Changes to whole runs if `interleave: auto` chose slices that this machine cannot support. Call it before the study is used in any
    /// other way.
    pub fn resolve_interleave_at(&mut self, place: &Place) {
        if self.compare.interleave == Interleave::Auto
            && let Some(no) = self.no_slices_at(place)
        {
            self.use_whole_runs(no);
        }
    }

    /// Reason against slices if two variants share a store, in which each would find the other's data.
    fn shared_store(&self, launches: &[Launch]) -> Option<NoSlices> {
        let mut written: Vec<String> = Vec::new();
        for (variant, launch) in launches.iter().enumerate() {
            let Some(store) = database_of(launch) else { continue };
            let plan = self.setting(variant).plan(0, launch).ok()?;
            if written.contains(&store) {
                return Some(NoSlices {
                    because: format!(
                        "variants write to one store, {store}, where each finds what the other left"
                    ),
                    help: "use `interleave: slices` if you want slices nevertheless".to_owned(),
                });
            }
            written.extend(writes(&plan, launch).map(|_| store));
        }
        None
    }

    /// Reason against slices if more than one system of a block writes, as far as the plan shows.
    fn shared_disk(&self, launches: &[Launch]) -> Option<NoSlices> {
        let writes = |launch: &Launch| -> Option<String> {
            if launch.processes.is_empty() {
                return None;
            }
            if launch.tables.is_some() || launch.own_data.is_some() {
                return Some("its tables are made".to_owned());
            }
            writes(&self.plan(0, launch).ok()?, launch)
        };
        let writing: Vec<String> = launches.iter().filter_map(writes).collect();
        let [first, _, ..] = writing.as_slice() else { return None };
        let (who, others) = match (writing.len(), launches.len()) {
            (_, 2) => ("both".to_owned(), "the other"),
            (all, of) if all == of => (who(launches), "the others"),
            (some, of) => (format!("{some} of {of}"), "the others"),
        };
        Some(NoSlices {
            because: format!(
                "{who} systems write to one disk ({first}), and what one leaves to write slows down {others}"
            ),
            help: "use `interleave: slices` if you want slices nevertheless".to_owned(),
        })
    }
}

/// Reason against slices if two variants keep their data in one folder, as far as the plan shows. Most servers lock it.
fn shared_folder(launches: &[Launch]) -> Option<NoSlices> {
    let folders: Vec<&str> = launches.iter().filter_map(data_folder).collect();
    let is_shared = |(number, folder): &(usize, &&str)| folders[number + 1..].contains(folder);
    let (_, folder) = folders.iter().enumerate().find(is_shared)?;
    Some(NoSlices {
        because: format!("variants keep their data in {folder}, and only one can be up"),
        help: "use `interleave: runs`, or keep the data in {dir}".to_owned(),
    })
}

/// Folder in a flag of a server: `-D PATH`, `--datadir=PATH`. `None` if there is no such flag.
fn data_folder(launch: &Launch) -> Option<&str> {
    let mut found = launch.processes.iter().flat_map(|process| {
        let argv = &process.command.argv;
        let after = argv.windows(2).filter(|words| DATA_FOLDERS.contains(&words[0].as_str()));
        let after = after.map(|words| words[1].as_str());
        let joined = argv.iter().filter_map(|word| word.split_once('='));
        after.chain(joined.filter(|(flag, _)| DATA_FOLDERS.contains(flag)).map(|(_, folder)| folder))
    });
    found.find(|folder| folder.contains('/'))
}

/// URL of the system that stores the data that a load writes, as far as the plan shows.
fn write_url(launch: &Launch) -> Option<&String> {
    let of_front = Some(&launch.url).filter(|url| SystemKind::by_url(url).keeps_writes);
    launch.database.as_ref().or(of_front)
}

/// Database that stores the data that a load on a system writes: host, port, and name, or the path of a file. `None` for other systems.
fn database_of(launch: &Launch) -> Option<String> {
    let url = write_url(launch)?;
    let (_, rest) = url.split_once(':')?;
    let rest = rest.strip_prefix("//").unwrap_or(rest).split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(format!("{host}{path}"))
}

/// Reason why a system writes under a load, as far as the plan shows. `None` if it does not write, or if that is unknown.
fn writes(plan: &Plan, launch: &Launch) -> Option<String> {
    let is_kept = write_url(launch).is_some();
    let of_step = |(number, step): (usize, &PlannedStep)| match &step.action {
        Action::Owned(action) => {
            let load = &plan.endpoints[usize::from(step.endpoint)].load;
            load.write_reason(plan.number_at_endpoint(number), action, is_kept)
        }
        Action::Tool(tool) => is_kept.then(|| format!("the load of {} may", tool.tool.name)),
    };
    plan.steps.iter().enumerate().find_map(of_step)
}

/// Reason against slices if the systems need more memory than there is, as far as the plan shows.
fn too_large(launches: &[Launch], room_bytes: u64, is_available: bool) -> Option<NoSlices> {
    let known: Vec<(&Launch, KnownMemory)> =
        launches.iter().filter_map(|launch| Some((launch, known_memory(launch)?))).collect();
    let sum_bytes = known.iter().fold(0, |sum: u64, (_, known)| sum.saturating_add(known.bytes));
    if sum_bytes <= room_bytes {
        return None;
    }
    let each: Vec<String> = known
        .iter()
        .map(|(launch, known)| {
            let name = [launch.system.as_str(), &launch.variant].join(" ");
            format!("{} may take {} ({})", name.trim_end(), size_words(known.bytes), known.by)
        })
        .collect();
    let of = if is_available { "are available" } else { "is all that there is" };
    Some(NoSlices {
        because: format!(
            "{} systems do not fit into memory together: {}, and {} {of}",
            who(launches),
            each.join(" and "),
            size_words(room_bytes)
        ),
        help: "use `interleave: runs`, or let the systems take less memory".to_owned(),
    })
}

fn who(launches: &[Launch]) -> String {
    match launches.len() {
        2 => "both".to_owned(),
        all => format!("all {all}"),
    }
}

/// Size as text: `1.5 GiB`.
fn size_words(bytes: u64) -> String {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    if gib < 1.0 {
        format!("{} MiB", shown::mebibytes(bytes))
    } else {
        format!("{} GiB", shown::decimal(gib, 1))
    }
}

/// Memory that a system may use, in bytes.
struct KnownMemory {
    bytes: u64,
    /// Source of the number.
    by: &'static str,
}

/// Memory that a system may use, from its limit or else from its settings. `None` if the plan shows neither.
fn known_memory(launch: &Launch) -> Option<KnownMemory> {
    if launch.processes.is_empty() {
        return None;
    }
    if let Some(bytes) = launch.limits.memory_bytes {
        return Some(KnownMemory { bytes, by: "its limit of memory" });
    }
    let processes = launch.processes.iter().filter(|process| process.proxy.is_none());
    let commands = launch.before.iter().chain(processes.map(|process| &process.command));
    let of_words = commands.flat_map(|command| {
        command.argv.iter().cloned().chain(command.env.iter().map(|(_, value)| value.clone()))
    });
    let of_files = launch.files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    let texts: Vec<String> = of_words.chain(of_files).collect();
    let settings = SETTINGS.map(|(name, unit_bytes)| {
        // The last setting wins, as in the servers.
        let mut bytes =
            texts.iter().flat_map(|text| text.lines()).filter_map(|line| setting(line, name, unit_bytes));
        Some(KnownMemory { bytes: bytes.next_back()?, by: name })
    });
    let heaps = texts.iter().flat_map(|text| text.split_ascii_whitespace());
    let heap = heaps.rev().find_map(|word| size(word.strip_prefix(HEAP)?, 1));
    let heap = heap.map(|bytes| KnownMemory { bytes, by: HEAP });
    settings.into_iter().chain([heap]).flatten().max_by_key(|known| known.bytes)
}

/// Value of a server setting in a line of a command or a file, such as `shared_buffers = '2GB'`, `-c shared_buffers=2GB`, or
/// `--innodb-buffer-pool-size=1G`. Comments are ignored.
fn setting(line: &str, name: &str, unit_bytes: u64) -> Option<u64> {
    let line = line.split('#').next()?.to_ascii_lowercase().replace('-', "_");
    let (_, value) = line.split_once(name)?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    size(value.trim_start_matches(['\'', '"']), unit_bytes)
}

/// Parses `2GB`, `512m`, or a number of units. As in the servers, units are powers of 1024.
fn size(text: &str, unit_bytes: u64) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    let unit = match rest.bytes().next().map(|letter| letter.to_ascii_lowercase()) {
        Some(b'k') => "KiB",
        Some(b'm') => "MiB",
        Some(b'g') => "GiB",
        Some(b't') => return size(&format!("{number}g"), 1)?.checked_mul(1024),
        _ => return number.parse::<u64>().ok()?.checked_mul(unit_bytes),
    };
    size_bytes(&format!("{number}{unit}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_settings_as_servers_do() {
        let buffers = |line: &str| setting(line, "shared_buffers", 8192);
        let pool = |line: &str| setting(line, "innodb_buffer_pool_size", 1);
        assert_eq!(buffers("shared_buffers=2GB"), Some(2 << 30));
        assert_eq!(buffers("-cshared_buffers=512MB"), Some(512 << 20));
        assert_eq!(buffers("  shared_buffers = '128kB'  # more"), Some(128 << 10));
        assert_eq!(buffers("shared_buffers = 16384"), Some(128 << 20), "blocks");
        assert_eq!(buffers("#shared_buffers = 2GB"), None);
        assert_eq!(buffers("shared_buffers = on"), None);
        assert_eq!(pool("--innodb-buffer-pool-size=1G"), Some(1 << 30));
        assert_eq!(pool("innodb_buffer_pool_size=134217728"), Some(128 << 20));
        assert_eq!(size("2T", 1), Some(2 << 40));
        for wrong in ["", "g", "99999999999999999999", "-1"] {
            assert_eq!(size(wrong, 1), None, "{wrong}");
        }
    }
}
