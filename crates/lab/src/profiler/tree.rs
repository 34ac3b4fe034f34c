//! Stores stacks as a call tree with shared prefixes, and reduces it to its largest parts.

use std::collections::HashMap;

/// CPU profile: functions and their callers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Samples per second of CPU time.
    pub frequency_hz: u32,
    /// Whether kernel time was sampled too.
    pub has_kernel: bool,
    /// Number of samples.
    pub samples: u64,
    /// Number of samples that `perf` lost because its buffer was full.
    pub lost: u64,
    /// Time from the first to the last sample, in nanoseconds.
    pub span_ns: u64,
    /// CPU time of `perf` itself until sampling ended, in seconds.
    pub perf_cpu_s: f64,
    /// Whether sampling ended early because the file reached its max size.
    pub is_cut: bool,
    /// Processes and functions.
    pub frames: Vec<Frame>,
    /// Call tree, callers before callees.
    pub calls: Vec<Call>,
}

/// A process or a function. Names are escaped for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Name.
    pub name: String,
    /// File that contains the function; empty for a process.
    pub module: String,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Samples in which the function itself ran.
    pub own: u64,
    /// Samples in which the function or one of its callees ran.
    pub total: u64,
}

/// Kind of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A process.
    #[default]
    Process,
    /// A function in user space.
    User,
    /// A function in the kernel.
    Kernel,
}

/// A node of the call tree: a frame and its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the calling node. `None` for a process.
    pub parent: Option<u32>,
    /// Index of the frame.
    pub frame: u32,
    /// Samples with a stack that ends at this node.
    pub samples: u64,
}

impl Frame {
    /// Placeholder for an unknown function name.
    pub const UNKNOWN: &str = "[unknown]";
    /// Name of the frame that collects functions that are not stored separately.
    pub const REST: &str = "[other functions]";

    pub(super) fn new(name: String, module: String, kind: FrameKind) -> Self {
        Self { name, module, kind, own: 0, total: 0 }
    }
}

/// Max size of the tree while it grows. Beyond it, samples go to [`Frame::REST`].
const GROWING_CALLS_MAX: usize = 400_000;
const GROWING_FRAMES_MAX: usize = 60_000;
/// Max size of the profile, not counting one rest node for each caller.
const CALLS_MAX: usize = 5_000;
const FRAMES_MAX: usize = 5_000;

/// Call tree of the samples so far.
#[derive(Debug, Default)]
pub(super) struct Tree {
    frames: Vec<Frame>,
    numbers: HashMap<(String, String, FrameKind), u32>,
    /// Number of the last sample counted in the total of each frame.
    counted: Vec<u64>,
    calls: Vec<Call>,
    places: HashMap<(Option<u32>, u32), u32>,
    samples: u64,
}

impl Tree {
    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// Adds a stack that starts with the process.
    pub(super) fn add(&mut self, stack: impl Iterator<Item = Frame>) {
        self.samples += 1;
        let mut at: Option<u32> = None;
        for frame in stack {
            let is_full = self.calls.len() >= GROWING_CALLS_MAX || self.frames.len() >= GROWING_FRAMES_MAX;
            let frame = self.number(frame, is_full);
            let next = self.place(at, frame);
            self.count(frame);
            at = Some(next);
            if is_full && self.frames[frame as usize].name == Frame::REST {
                break;
            }
        }
        if let Some(call) = at {
            let call = &mut self.calls[call as usize];
            call.samples += 1;
            self.frames[call.frame as usize].own += 1;
        }
    }

    fn number(&mut self, frame: Frame, is_full: bool) -> u32 {
        let key = (frame.name, frame.module, frame.kind);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let key = if is_full { (Frame::REST.to_owned(), String::new(), FrameKind::User) } else { key };
        let next = self.frames.len() as u32;
        let (frames, counted) = (&mut self.frames, &mut self.counted);
        *self.numbers.entry(key).or_insert_with_key(|(name, module, kind)| {
            frames.push(Frame::new(name.clone(), module.clone(), *kind));
            counted.push(0);
            next
        })
    }

    fn place(&mut self, parent: Option<u32>, frame: u32) -> u32 {
        let next = self.calls.len() as u32;
        let calls = &mut self.calls;
        *self.places.entry((parent, frame)).or_insert_with(|| {
            calls.push(Call { parent, frame, samples: 0 });
            next
        })
    }

    /// Adds 1 to the total of a frame, once per sample.
    fn count(&mut self, frame: u32) {
        let counted = &mut self.counted[frame as usize];
        if *counted != self.samples {
            *counted = self.samples;
            self.frames[frame as usize].total += 1;
        }
    }

    /// Stores the nodes with the most samples, and assigns the others to the rest of their caller. The sums of frames do not
    /// change.
    pub(super) fn into_profile(mut self) -> Profile {
        let totals = self.totals();
        let least = threshold(totals.clone(), CALLS_MAX);
        let rest = (Frame::REST.to_owned(), String::new(), FrameKind::User);
        let is_cut = totals.iter().any(|total| *total < least);
        let rest = is_cut.then(|| self.number(Frame::new(rest.0, rest.1, rest.2), false));
        let mut kept = RetainedNodes { places: vec![None; self.calls.len()], ..RetainedNodes::default() };
        for (number, call) in self.calls.iter().enumerate() {
            let parent = call.parent.map(|parent| kept.places[parent as usize]);
            match (parent, rest) {
                // The caller was dropped together with all its callees.
                (Some(None), _) => {}
                (_, Some(rest)) if totals[number] < least => {
                    kept.add_rest(parent.flatten(), rest, totals[number]);
                }
                _ => {
                    kept.places[number] = Some(kept.calls.len() as u32);
                    kept.calls.push(Call { parent: parent.flatten(), ..*call });
                }
            }
        }
        let own: u64 = kept.rests.values().map(|place| kept.calls[*place as usize].samples).sum();
        if let Some(rest) = rest {
            let rest = &mut self.frames[rest as usize];
            (rest.own, rest.total) = (rest.own.max(own), rest.total.max(own));
        }
        let (frames, calls) = (self.frames, kept.calls);
        drop_unused_frames(Profile { samples: self.samples, frames, calls, ..Profile::default() })
    }

    /// Samples of each node, including its callees.
    fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.calls.iter().map(|call| call.samples).collect();
        // Callers precede callees, so the reverse order sums callees first.
        for (number, call) in self.calls.iter().enumerate().rev() {
            if let Some(parent) = call.parent {
                totals[parent as usize] += totals[number];
            }
        }
        totals
    }
}

/// Nodes that remain in the profile.
#[derive(Default)]
struct RetainedNodes {
    calls: Vec<Call>,
    /// New index of each node of the whole tree. `None` if it was dropped.
    places: Vec<Option<u32>>,
    /// Index of the rest node, by caller.
    rests: HashMap<Option<u32>, u32>,
}

impl RetainedNodes {
    fn add_rest(&mut self, parent: Option<u32>, frame: u32, samples: u64) {
        let calls = &mut self.calls;
        let place = *self.rests.entry(parent).or_insert_with(|| {
            calls.push(Call { parent, frame, samples: 0 });
            calls.len() as u32 - 1
        });
        self.calls[place as usize].samples += samples;
    }
}

/// Returns the smallest threshold that no more than `max` numbers reach.
fn threshold(mut numbers: Vec<u64>, max: usize) -> u64 {
    if numbers.len() <= max {
        return 0;
    }
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers[max] + 1
}

/// Drops frames that no node needs, unless they are among those with the most samples.
fn drop_unused_frames(profile: Profile) -> Profile {
    let least = threshold(profile.frames.iter().map(|frame| frame.total).collect(), FRAMES_MAX);
    let mut is_needed: Vec<bool> = profile.frames.iter().map(|frame| frame.total >= least).collect();
    profile.calls.iter().for_each(|call| is_needed[call.frame as usize] = true);
    let mut places = vec![0; profile.frames.len()];
    let mut frames = Vec::new();
    for (number, frame) in profile.frames.into_iter().enumerate().filter(|(number, _)| is_needed[*number]) {
        places[number] = frames.len() as u32;
        frames.push(frame);
    }
    let calls = profile.calls.into_iter().map(|call| Call { frame: places[call.frame as usize], ..call });
    let calls = calls.collect();
    Profile { frames, calls, ..profile }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> Frame {
        Frame::new(name.to_owned(), "app".to_owned(), FrameKind::User)
    }

    #[test]
    fn dropped_nodes_are_counted_in_the_rest_of_their_caller() {
        let mut tree = Tree::default();
        let process = || Frame::new("app".to_owned(), String::new(), FrameKind::Process);
        for number in 0..3 * CALLS_MAX {
            tree.add(
                [process(), function("main"), function(&format!("f{number}")), function("leaf")].into_iter(),
            );
        }
        (0..1_000).for_each(|_| tree.add([process(), function("main"), function("hot")].into_iter()));
        let profile = tree.into_profile();
        assert!(profile.calls.len() <= 2 * CALLS_MAX && profile.frames.len() <= FRAMES_MAX + CALLS_MAX);
        let own: u64 = profile.calls.iter().map(|call| call.samples).sum();
        assert_eq!(own, profile.samples);
        let of = |name: &str| profile.frames.iter().find(|frame| frame.name == name).unwrap();
        assert_eq!((of("hot").own, of("leaf").own), (1_000, 3 * CALLS_MAX as u64), "sums stay whole");
        assert_eq!(of("main").total, profile.samples);
        assert_eq!(of(Frame::REST).own, 3 * CALLS_MAX as u64);
        for (number, call) in profile.calls.iter().enumerate() {
            assert!(call.parent.is_none_or(|parent| (parent as usize) < number));
        }
    }

    #[test]
    fn tree_is_bounded_while_it_grows() {
        let mut tree = Tree::default();
        for number in 0..GROWING_FRAMES_MAX + 500 {
            tree.add([function(&format!("f{number}"))].into_iter());
        }
        assert!(tree.frames.len() <= GROWING_FRAMES_MAX + 1);
        let profile = tree.into_profile();
        assert_eq!(profile.calls.iter().map(|call| call.samples).sum::<u64>(), profile.samples);
    }
}
