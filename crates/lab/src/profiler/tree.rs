//! Stacks with common beginnings, held once, and so much of them as is worth keeping.

use std::collections::HashMap;

/// Where processes spend CPU time: functions, and who called them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Samples per second of CPU time.
    pub frequency_hz: u32,
    /// Whether time in the kernel was sampled too.
    pub has_kernel: bool,
    /// How many were taken.
    pub samples: u64,
    /// Samples that `perf` had no room for.
    pub lost: u64,
    /// From the first sample to the last one.
    pub span_ns: u64,
    /// CPU time of `perf` itself until sampling ended.
    pub perf_cpu_s: f64,
    /// Whether it ended early, because the file had reached its greatest size.
    pub is_cut: bool,
    /// Processes and functions.
    pub frames: Vec<Frame>,
    /// Who called whom, callers first.
    pub calls: Vec<Call>,
}

/// A process, or a function. Names are fit to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// What it is called.
    pub name: String,
    /// The file that it is in; empty for a process.
    pub module: String,
    /// Where it runs.
    pub kind: FrameKind,
    /// Samples in which it ran itself.
    pub own: u64,
    /// Samples in which it ran, or something that it had called.
    pub total: u64,
}

/// Where a frame runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// It is a process.
    #[default]
    Process,
    /// In user space.
    User,
    /// In the kernel.
    Kernel,
}

/// A frame as it was called from one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The number of the call that it was made in; `None`: it is a process.
    pub parent: Option<u32>,
    /// The number of the frame.
    pub frame: u32,
    /// Samples that ended here.
    pub samples: u64,
}

impl Frame {
    /// The name of a function of which none is known.
    pub const UNKNOWN: &str = "[unknown]";
    /// The name of what is not kept one by one.
    pub const REST: &str = "[other functions]";

    pub(super) fn new(name: String, module: String, kind: FrameKind) -> Self {
        Self { name, module, kind, own: 0, total: 0 }
    }
}

/// While it grows: beyond these, samples go to [`Frame::REST`].
const GROWING_CALLS_MAX: usize = 400_000;
const GROWING_FRAMES_MAX: usize = 60_000;
/// Kept in the end, with as many places for the rest of each.
const CALLS_MAX: usize = 5_000;
const FRAMES_MAX: usize = 5_000;

/// Samples so far.
#[derive(Debug, Default)]
pub(super) struct Tree {
    frames: Vec<Frame>,
    numbers: HashMap<(String, String, FrameKind), u32>,
    /// The sample that counted in the total of a frame last.
    counted: Vec<u64>,
    calls: Vec<Call>,
    places: HashMap<(Option<u32>, u32), u32>,
    samples: u64,
}

impl Tree {
    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// A stack, the process first.
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

    /// In the total, once for each sample.
    fn count(&mut self, frame: u32) {
        let counted = &mut self.counted[frame as usize];
        if *counted != self.samples {
            *counted = self.samples;
            self.frames[frame as usize].total += 1;
        }
    }

    /// The calls with the most samples; what is left out goes to the rest of its caller. Frames keep their sums.
    pub(super) fn into_profile(mut self) -> Profile {
        let totals = self.totals();
        let least = least_of(totals.clone(), CALLS_MAX);
        let rest = (Frame::REST.to_owned(), String::new(), FrameKind::User);
        let is_cut = totals.iter().any(|total| *total < least);
        let rest = is_cut.then(|| self.number(Frame::new(rest.0, rest.1, rest.2), false));
        let mut kept = Kept { places: vec![None; self.calls.len()], ..Kept::default() };
        for (number, call) in self.calls.iter().enumerate() {
            let parent = call.parent.map(|parent| kept.places[parent as usize]);
            match (parent, rest) {
                // Its caller was left out, with all that it had called.
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
        only_needed(Profile { samples: self.samples, frames, calls, ..Profile::default() })
    }

    /// Samples of each call and of all that it had called.
    fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.calls.iter().map(|call| call.samples).collect();
        // Callers come first.
        for (number, call) in self.calls.iter().enumerate().rev() {
            if let Some(parent) = call.parent {
                totals[parent as usize] += totals[number];
            }
        }
        totals
    }
}

/// The calls that are kept so far.
#[derive(Default)]
struct Kept {
    calls: Vec<Call>,
    /// Where each call of the whole tree is among them.
    places: Vec<Option<u32>>,
    /// By caller, where its rest is.
    rests: HashMap<Option<u32>, u32>,
}

impl Kept {
    fn add_rest(&mut self, parent: Option<u32>, frame: u32, samples: u64) {
        let calls = &mut self.calls;
        let place = *self.rests.entry(parent).or_insert_with(|| {
            calls.push(Call { parent, frame, samples: 0 });
            calls.len() as u32 - 1
        });
        self.calls[place as usize].samples += samples;
    }
}

/// The least number that at most so many are not below.
fn least_of(mut numbers: Vec<u64>, max: usize) -> u64 {
    if numbers.len() <= max {
        return 0;
    }
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers[max] + 1
}

/// Without frames that no call needs, unless they are among those with the most samples.
fn only_needed(profile: Profile) -> Profile {
    let least = least_of(profile.frames.iter().map(|frame| frame.total).collect(), FRAMES_MAX);
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
    fn what_is_left_out_is_counted_as_the_rest_of_its_caller() {
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
    fn memory_is_bounded_while_it_grows() {
        let mut tree = Tree::default();
        for number in 0..GROWING_FRAMES_MAX + 500 {
            tree.add([function(&format!("f{number}"))].into_iter());
        }
        assert!(tree.frames.len() <= GROWING_FRAMES_MAX + 1);
        let profile = tree.into_profile();
        assert_eq!(profile.calls.iter().map(|call| call.samples).sum::<u64>(), profile.samples);
    }
}
