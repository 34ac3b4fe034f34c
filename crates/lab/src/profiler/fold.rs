//! Aggregates stacks from the output of `perf script`. Names of processes, functions, and files are untrusted text, so line lengths
//! and memory are bounded.
//!
//! ```text
//! nginx 4711   483.950101:                                  process, number, time in seconds
//!                    1137 ngx_http_parse (/usr/sbin/nginx)  the function that ran, then its callers
//!                   2724a main (/usr/sbin/nginx)
//!                                                           a blank line
//! ```

use std::collections::BTreeMap;
use std::io::BufRead;

use super::tree::{Frame, FrameKind, Profile, Tree};
use crate::in_words;

/// Max length of a line. The rest is cut.
const LINE_BYTES_MAX: usize = 8 << 10;
/// Max depth of a stack. Deeper stacks lose their outermost callers.
const DEPTH_MAX: usize = 256;
const NAME_CHARACTERS_MAX: usize = 160;
const MODULE_CHARACTERS_MAX: usize = 60;
/// Lowest kernel address on 64-bit machines.
const KERNEL_FROM: u64 = 1 << 63;
const LOST: &str = "PERF_RECORD_LOST lost ";

/// Aggregated stacks of all samples read.
#[derive(Debug, Default)]
pub(super) struct Folded {
    tree: Tree,
    lost: u64,
    /// Times of the first and the last sample, in nanoseconds. `None` before the first sample.
    times_ns: Option<[u64; 2]>,
}

impl Folded {
    pub(super) fn samples(&self) -> u64 {
        self.tree.samples()
    }

    pub(super) fn into_profile(self) -> Profile {
        let span_ns = self.times_ns.map_or(0, |[first, last]| last - first);
        Profile { lost: self.lost, span_ns, ..self.tree.into_profile() }
    }

    fn note_time(&mut self, at_ns: u64) {
        let [first, last] = self.times_ns.unwrap_or([at_ns, at_ns]);
        self.times_ns = Some([first.min(at_ns), last.max(at_ns)]);
    }
}

/// Reads until the end of input or a read error.
pub(super) fn fold(mut lines: impl BufRead, names: &BTreeMap<u32, String>) -> Folded {
    let mut folded = Folded::default();
    let mut sample: Option<(Frame, Vec<Frame>)> = None;
    let mut line = Vec::new();
    while read_line(&mut lines, &mut line) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        match &mut sample {
            _ if text.is_empty() => add(&mut folded, sample.take()),
            None => {
                if let Some(lost) = lost(text) {
                    folded.lost = folded.lost.saturating_add(lost);
                } else if let Some((process, at_ns)) = parse_sample_head(text, names) {
                    folded.note_time(at_ns);
                    sample = Some((process, Vec::new()));
                }
            }
            Some((_, stack)) => stack.extend(frame(text).filter(|_| stack.len() < DEPTH_MAX)),
        }
    }
    add(&mut folded, sample);
    folded
}

/// Adds a sample. Its stack starts with the function that ran.
fn add(folded: &mut Folded, sample: Option<(Frame, Vec<Frame>)>) {
    let Some((process, mut stack)) = sample else { return };
    // Consecutive unknown functions are merged.
    stack.dedup_by(|one, other| one == other && one.name == Frame::UNKNOWN);
    folded.tree.add(std::iter::once(process).chain(stack.into_iter().rev()));
}

/// Reads the next line without its line end, cut to `LINE_BYTES_MAX`. Returns whether there is one.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    let mut has_any = false;
    loop {
        let Ok(buffer) = lines.fill_buf() else { return has_any };
        if buffer.is_empty() {
            return has_any;
        }
        has_any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = LINE_BYTES_MAX.saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        lines.consume(used);
        if end.is_some() {
            return true;
        }
    }
}

fn lost(text: &str) -> Option<u64> {
    let (_, count) = text.rsplit_once(LOST)?;
    count.split_whitespace().next()?.parse().ok()
}

/// Parses the process and the time of a sample. A process name may contain spaces, so pid and time are the last two words.
fn parse_sample_head(text: &str, names: &BTreeMap<u32, String>) -> Option<(Frame, u64)> {
    let (front, time) = text.strip_suffix(':')?.rsplit_once(char::is_whitespace)?;
    let (seconds, fraction) = time.split_once('.')?;
    let digits = fraction.len().min(9);
    let fraction_ns = fraction.get(..digits)?.parse::<u64>().ok()? * 10u64.pow(9 - digits as u32);
    let at_ns = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction_ns)?;
    let front = front.trim_end();
    let (comm, pid) = front.rsplit_once(char::is_whitespace).unwrap_or(("", front));
    let pid: u32 = pid.parse().ok()?;
    let name = names.get(&pid).map_or_else(|| comm.trim(), String::as_str);
    Some((Frame::new(escape_and_cut(name, NAME_CHARACTERS_MAX), String::new(), FrameKind::Process), at_ns))
}

/// Parses a function of a stack: its address, name, and file.
fn frame(text: &str) -> Option<Frame> {
    let text = text.trim_start();
    let (address, rest) = text.split_once(' ')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let rest = rest.trim();
    let rest = rest.strip_suffix(" (deleted))").map_or(rest.strip_suffix(')'), Some);
    let (name, module) = rest.and_then(|rest| rest.rsplit_once(" (")).unwrap_or((text, ""));
    let kind = if address >= KERNEL_FROM { FrameKind::Kernel } else { FrameKind::User };
    let module = match kind {
        FrameKind::Kernel if module.starts_with("[kernel") || module == Frame::UNKNOWN => "kernel",
        _ => module.rsplit('/').next().unwrap_or_default(),
    };
    let name = if name.trim().is_empty() { Frame::UNKNOWN } else { name.trim() };
    Some(Frame::new(
        escape_and_cut(name, NAME_CHARACTERS_MAX),
        escape_and_cut(module, MODULE_CHARACTERS_MAX),
        kind,
    ))
}

/// Escapes a text for display, and cuts it to `characters_max`.
fn escape_and_cut(text: &str, characters_max: usize) -> String {
    let escaped = in_words::escaped(text);
    match escaped.char_indices().nth(characters_max) {
        Some((end, _)) => format!("{}…", &escaped[..end]),
        None => escaped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
nginx: worker 41   483.950101: \n\
\t            1137 parse(char const*) (/usr/sbin/nginx)\n\
\tffffffff81000010 do_syscall_64 ([kernel.kallsyms])\n\
\t           2724a main (/usr/sbin/nginx (deleted))\n\
\n\
swapper     0     0.000000: PERF_RECORD_LOST lost 7\n\
\n\
x 42   484.950101: \n\
\t            1137 [unknown] (/tmp/perf-42.map)\n\
\t            1138 [unknown] (/tmp/perf-42.map)\n\
\n";

    fn folded(text: &str) -> Profile {
        let names = BTreeMap::from([(41, "web".to_owned())]);
        fold(text.as_bytes(), &names).into_profile()
    }

    fn of<'a>(profile: &'a Profile, name: &str) -> &'a Frame {
        profile
            .frames
            .iter()
            .find(|frame| frame.name == name)
            .unwrap_or_else(|| panic!("{name}: {profile:?}"))
    }

    #[test]
    fn stacks_are_aggregated_by_process() {
        let profile = folded(&PRINTED.repeat(3));
        assert_eq!((profile.samples, profile.lost, profile.span_ns), (6, 21, 1_000_000_000));
        let parse = of(&profile, "parse(char const*)");
        assert_eq!(
            (parse.module.as_str(), parse.kind, parse.own, parse.total),
            ("nginx", FrameKind::User, 3, 3)
        );
        let kernel = of(&profile, "do_syscall_64");
        assert_eq!((kernel.module.as_str(), kernel.kind, kernel.own), ("kernel", FrameKind::Kernel, 0));
        assert_eq!(of(&profile, "main").module, "nginx");
        assert_eq!((of(&profile, "web").kind, of(&profile, "x").total), (FrameKind::Process, 3));
        let unknown = of(&profile, "[unknown]");
        assert_eq!((unknown.own, unknown.total, unknown.module.as_str()), (3, 3, "perf-42.map"));
        // Calls: web, main, do_syscall_64, and parse; x and [unknown].
        assert_eq!(profile.calls.len(), 6);
    }

    #[test]
    fn recursive_function_counts_once_per_stack() {
        let text = "a 1 1.0:\n 10 f (/a)\n 11 f (/a)\n 12 f (/a)\n\n";
        let profile = folded(text);
        assert_eq!((of(&profile, "f").own, of(&profile, "f").total, profile.calls.len()), (1, 1, 4));
    }

    #[test]
    fn untrusted_text_is_cut_and_escaped() {
        let name = format!("\u{1b}[31m<script>{}", "x".repeat(100_000));
        let text =
            format!("a 1 1.5:\n 10 {name} (/a)\n\n1 2 3:\n\n(((:\n\n\u{0} 9 9.9:\n zz f (/a)\n 1 g (/a)\n");
        let profile = folded(&text);
        assert!(profile.frames.iter().all(|frame| frame.name.chars().count() <= NAME_CHARACTERS_MAX + 1));
        assert!(profile.frames.iter().all(|frame| !frame.name.chars().any(char::is_control)), "{profile:?}");
        assert_eq!(profile.samples, 2, "{profile:?}");
    }

    #[test]
    fn any_part_of_the_output_is_accepted() {
        for at in 0..PRINTED.len() {
            for text in [&PRINTED[..at], &PRINTED[at..]] {
                let profile = folded(text);
                let own: u64 = profile.calls.iter().map(|call| call.samples).sum();
                assert_eq!(own, profile.samples);
            }
        }
    }
}
