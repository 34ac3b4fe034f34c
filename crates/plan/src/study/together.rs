//! Whether all systems of a block can be up together on this machine: whether they fit into memory, and whether what one leaves to
//! write slows down the others.

use super::slices::NoSlices;
use super::{Interleave, Launch, Study};
use crate::database::is_database;
use crate::plan::{Action, Plan, PlannedStep};
use crate::units::{shown, size_bytes};

/// What the machine has for these systems. `None` is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its memory, or that of the control group of this process, if that is less; in bytes.
    pub memory_bytes: Option<u64>,
    /// How much of it is available before the systems start, in bytes.
    pub available_bytes: Option<u64>,
    /// Whether all systems write to one disk: the folders of systems are not in memory.
    pub is_one_disk: bool,
}

/// Methods of HTTP that change nothing (RFC 9110 §9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// A setting of memory that a system takes: its name, and how many bytes a number without a unit is.
const SETTINGS: [(&str, u64); 2] = [
    // PostgreSQL counts in blocks of 8 KiB.
    ("shared_buffers", 8192),
    ("innodb_buffer_pool_size", 1),
];
/// The largest heap of a Java process.
const HEAP: &str = "-Xmx";

impl Study {
    /// Why variants cannot be compared in slices in a place; `None`: they can, or the plan does not ask for it. Slices that the
    /// plan itself rules out are [`Study::no_slices`]. `interleave: slices` is held to the memory of the machine alone: a person may
    /// know better what they will take of it.
    pub fn no_slices_at(&self, place: &Place) -> Option<NoSlices> {
        self.slicing()?;
        let launches: Vec<Launch> =
            (0..self.variants.len()).map(|variant| self.with_ports_of_its_own(variant)).collect();
        let is_auto = self.compare.interleave == Interleave::Auto;
        let room_bytes = if is_auto { place.available_bytes } else { place.memory_bytes };
        let is_available = is_auto && place.available_bytes < place.memory_bytes;
        room_bytes
            .and_then(|room_bytes| too_large(&launches, room_bytes, is_available))
            .or_else(|| self.shared_disk(&launches).filter(|_| is_auto && place.is_one_disk))
    }

    /// Makes whole runs where `interleave: auto` would make slices that have no place. Before anything else is made of the study.
    pub fn settle_at(&mut self, place: &Place) {
        if self.compare.interleave == Interleave::Auto
            && let Some(no) = self.no_slices_at(place)
        {
            self.make_whole_runs(no);
        }
    }

    /// That more than one system of a block writes, as far as the plan tells.
    fn shared_disk(&self, launches: &[Launch]) -> Option<NoSlices> {
        let writes = |launch: &Launch| -> Option<String> {
            if launch.processes.is_empty() {
                return None;
            }
            if launch.tables.is_some() {
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

/// Why a system writes under a load, as far as the plan tells; `None`: it does not, or nobody knows.
fn writes(plan: &Plan, launch: &Launch) -> Option<String> {
    let has_database = launch.database.is_some() || is_database(&launch.url);
    let of_step = |step: &PlannedStep| match &step.action {
        Action::Sql(action) => {
            let sql = plan.endpoints[usize::from(step.endpoint)].transactions()?;
            let numbers = sql.deck.scripts().get(usize::from(action.script))?.statements();
            let mut statements = numbers.filter_map(|number| sql.deck.statements().get(usize::from(number)));
            let written = statements.find(|statement| sql::may_write(statement, sql.database.engine))?;
            Some(format!("the load has {:?}", written.title().trim_end_matches(';')))
        }
        Action::Http(action) if has_database && !SAFE.contains(&action.request.method.as_str()) => {
            Some(format!("the load has requests with {}", action.request.method))
        }
        Action::Owned(action) if has_database => {
            Some(format!("the load has requests with {}", action.method()))
        }
        Action::Tool(tool) if has_database => Some(format!("the load of {} may", tool.tool.name)),
        Action::Http(_) | Action::Owned(_) | Action::Tool(_) => None,
    };
    plan.steps.iter().find_map(of_step)
}

/// That they take more memory than there is, as far as the plan tells.
fn too_large(launches: &[Launch], room_bytes: u64, is_available: bool) -> Option<NoSlices> {
    let known: Vec<(&Launch, Known)> =
        launches.iter().filter_map(|launch| Some((launch, known_memory(launch)?))).collect();
    let sum_bytes = known.iter().fold(0, |sum: u64, (_, known)| sum.saturating_add(known.bytes));
    if sum_bytes <= room_bytes {
        return None;
    }
    let each: Vec<String> = known
        .iter()
        .map(|(launch, known)| {
            let name = [launch.system.as_str(), &launch.variant].join(" ");
            format!("{} may take {} ({})", name.trim_end(), in_words(known.bytes), known.by)
        })
        .collect();
    let of = if is_available { "are available" } else { "is all that there is" };
    Some(NoSlices {
        because: format!(
            "{} systems do not fit into memory together: {}, and {} {of}",
            who(launches),
            each.join(" and "),
            in_words(room_bytes)
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

/// `1.5 GiB`
fn in_words(bytes: u64) -> String {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    if gib < 1.0 {
        format!("{} MiB", shown::mebibytes(bytes))
    } else {
        format!("{} GiB", shown::decimal(gib, 1))
    }
}

/// Memory that a system may take.
struct Known {
    bytes: u64,
    /// What says so.
    by: &'static str,
}

/// The memory that a system may take, as far as the plan tells: its limit, or else what its settings say.
fn known_memory(launch: &Launch) -> Option<Known> {
    if launch.processes.is_empty() {
        return None;
    }
    if let Some(bytes) = launch.limits.memory_bytes {
        return Some(Known { bytes, by: "its limit of memory" });
    }
    let processes = launch.processes.iter().filter(|process| process.proxy.is_none());
    let commands = launch.before.iter().chain(processes.map(|process| &process.command));
    let of_words = commands.flat_map(|command| {
        command.argv.iter().cloned().chain(command.env.iter().map(|(_, value)| value.clone()))
    });
    let of_files = launch.files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    let texts: Vec<String> = of_words.chain(of_files).collect();
    let settings = SETTINGS.map(|(name, unit_bytes)| {
        // What is written later counts, as servers read it.
        let mut bytes =
            texts.iter().flat_map(|text| text.lines()).filter_map(|line| setting(line, name, unit_bytes));
        Some(Known { bytes: bytes.next_back()?, by: name })
    });
    let heaps = texts.iter().flat_map(|text| text.split_ascii_whitespace());
    let heap = heaps.rev().find_map(|word| size(word.strip_prefix(HEAP)?, 1));
    let heap = heap.map(|bytes| Known { bytes, by: HEAP });
    settings.into_iter().chain([heap]).flatten().max_by_key(|known| known.bytes)
}

/// The value of a setting in a line of a command or a file: `-c shared_buffers=2GB`, `--innodb-buffer-pool-size=1G`,
/// `shared_buffers = '2GB'`. A comment sets nothing.
fn setting(line: &str, name: &str, unit_bytes: u64) -> Option<u64> {
    let line = line.split('#').next()?.to_ascii_lowercase().replace('-', "_");
    let (_, value) = line.split_once(name)?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    size(value.trim_start_matches(['\'', '"']), unit_bytes)
}

/// `2GB`, `512m`, or a number of units. Servers count in powers of 1024.
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
    fn settings_are_read_as_servers_write_them() {
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
