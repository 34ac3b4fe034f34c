//! CPU profiles of rows for the page: call trees without their thinnest branches, and differences.

use std::collections::BTreeMap;

use evidence::FrameKind;
use judge::cpu_profile::{Difference, Function, Profile};

use super::document::{CpuDifference, CpuProfile, CpuProfiles};
use super::rounded::Rounded;
use crate::cpu_profile::{Compared, doubts, profile_of};
use crate::study::{self, LoadView, StudyPieces, StudyView};
use crate::text::sanitize;
use crate::view::View;

/// Maximum numbers of rows of a load, and of calls in all of them.
const PROFILES_MAX: usize = 8;
const CALLS_MAX: usize = 12_000;
/// Minimum and maximum number of calls of one row. The limit depends on the numbers of rows and loads.
const ROW_CALLS_RANGE: std::ops::RangeInclusive<usize> = 250..=3_000;
/// Smallest share of a branch. Smaller ones are narrower than about a pixel.
const SHARE_MIN: f64 = 0.001;
/// Maximum numbers of characters of a function's name, and of its module.
const NAME_CHARACTERS_MAX: usize = 120;
const MODULE_CHARACTERS_MAX: usize = 40;
const REST: &str = "[other functions]";

/// Profiles of the runs of a page. Each run is a row.
pub(super) fn of_runs(views: &[View<'_>]) -> Option<CpuProfiles> {
    let profiles = views.iter().enumerate();
    let profiles: Vec<(usize, Profile)> =
        profiles.filter_map(|(row, view)| Some((row, profile_of(view)?))).collect();
    DrawnProfiles::of(&profiles, 1).map(|drawn| drawn.profiles)
}

/// Profiles of the rows under a load, and their differences from the reference row.
pub(super) fn of_load(
    view: &StudyView<'_>,
    page: &StudyPieces<'_>,
    load: &LoadView<'_>,
) -> Option<CpuProfiles> {
    let profiles = study::cpu_profiles::of_load(view, load);
    let mut drawn = DrawnProfiles::of(&profiles, view.loads.len())?;
    for (rows, pair) in study::cpu_profiles::pairs(load, &profiles) {
        let names = rows.map(|row| page.row(load, row));
        let compared = Compared { names: names.each_ref().map(String::as_str), profiles: pair };
        let Some(sentence) = compared.sentence(str::to_owned) else { continue };
        drawn.add_difference(rows, pair, &sentence);
        let [(from, first), (row, second)] = [(rows[0], pair[0]), (rows[1], pair[1])];
        drawn.add_difference([row, from], [second, first], &sentence);
    }
    Some(drawn.profiles)
}

struct DrawnProfiles {
    profiles: CpuProfiles,
    /// Calls of the profile that are drawn, by row and in drawing order. `None` is the rest of a caller.
    calls: BTreeMap<usize, Vec<Option<usize>>>,
}

impl DrawnProfiles {
    /// `None` without a profile.
    fn of(profiles: &[(usize, Profile)], loads: usize) -> Option<Self> {
        if profiles.is_empty() {
            return None;
        }
        let shown = &profiles[..profiles.len().min(PROFILES_MAX)];
        let calls_max = (CALLS_MAX / (shown.len() * loads.max(1)))
            .clamp(*ROW_CALLS_RANGE.start(), *ROW_CALLS_RANGE.end());
        let mut frames = Frames::default();
        let mut calls = BTreeMap::new();
        let of_row = |(row, profile): &(usize, Profile)| {
            let tree = Tree::of(profile, calls_max, &mut frames);
            calls.insert(*row, tree.sources);
            CpuProfile {
                row: *row,
                runs: profile.runs,
                samples: profile.samples,
                us_per_request: profile.us_per_request.filter(|us| us.is_finite()),
                calls: tree.calls,
                least_share: tree.least_share,
                doubts: doubts(profile),
            }
        };
        let shown: Vec<CpuProfile> = shown.iter().map(of_row).collect();
        let left_out = profiles.len() - shown.len();
        let profiles = CpuProfiles { frames: frames.all, profiles: shown, differences: Vec::new(), left_out };
        Some(Self { profiles, calls })
    }

    fn add_difference(&mut self, [from, row]: [usize; 2], [first, second]: [&Profile; 2], sentence: &str) {
        let Some(calls) = self.calls.get(&row).filter(|_| self.calls.contains_key(&from)) else { return };
        let Some(differences) = first.paths_in(second) else { return };
        let more = |call: &Option<usize>| {
            let clear = call.map(|call| &differences[call]).filter(|of: &&Difference<()>| of.is_clear());
            clear.and_then(|of| Rounded::of(of.more_us).get()).unwrap_or(0.0)
        };
        let (more_us, sentence) = (calls.iter().map(more).collect(), format!("{sentence}."));
        self.profiles.differences.push(CpuDifference { row, from, sentence, more_us });
    }
}

/// Frames of all trees of a load.
#[derive(Default)]
struct Frames {
    all: Vec<(String, String, u8)>,
    numbers: BTreeMap<Function, usize>,
}

impl Frames {
    fn number(&mut self, function: &Function) -> usize {
        let all = &mut self.all;
        *self.numbers.entry(function.clone()).or_insert_with(|| {
            let kind = match function.kind {
                FrameKind::Process => 0,
                FrameKind::User => 1,
                FrameKind::Kernel => 2,
            };
            let name = sanitize(&function.name, NAME_CHARACTERS_MAX);
            all.push((name, sanitize(&function.module, MODULE_CHARACTERS_MAX), kind));
            all.len() - 1
        })
    }
}

/// A call tree in drawing order.
struct Tree {
    calls: Vec<(u32, usize, u64)>,
    /// Index of each call in the profile. `None` for the rest of a caller.
    sources: Vec<Option<usize>>,
    least_share: f64,
}

impl Tree {
    /// Builds the tree without thin branches, whose samples go to the rest of their caller.
    fn of(profile: &Profile, calls_max: usize, frames: &mut Frames) -> Self {
        let mut tree = Self { calls: Vec::new(), sources: Vec::new(), least_share: SHARE_MIN };
        if !profile.is_enough() {
            return tree;
        }
        let totals = profile.totals();
        let least = |share: f64| (profile.samples as f64 * share).ceil() as u64;
        while totals.iter().filter(|total| **total >= least(tree.least_share)).count() > calls_max {
            tree.least_share *= 2.0;
        }
        let least = least(tree.least_share);
        let mut callees: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        for (number, call) in profile.calls.iter().enumerate() {
            callees.entry(call.parent).or_default().push(number);
        }
        let function = |number: usize| &profile.frames[profile.calls[number].frame as usize].function;
        for of_caller in callees.values_mut() {
            // The stack is popped from its end, so the order is reversed.
            of_caller.sort_by(|one, other| function(*other).cmp(function(*one)));
        }
        let rest = Function { name: REST.to_owned(), module: String::new(), kind: FrameKind::User };
        let mut stack: Vec<(u32, usize)> = Vec::new();
        let mut enter = |caller: Option<u32>, depth: u32, stack: &mut Vec<(u32, usize)>| {
            let (thick, thin): (Vec<usize>, Vec<usize>) = callees
                .remove(&caller)
                .unwrap_or_default()
                .into_iter()
                .partition(|call| totals[*call] >= least);
            stack.extend(thick.into_iter().map(|call| (depth, call)));
            thin.into_iter().fold(0u64, |sum, call| sum.saturating_add(totals[call]))
        };
        let mut thin = enter(None, 0, &mut stack);
        let mut depth_of_rest = 0;
        loop {
            if thin > 0 {
                tree.calls.push((depth_of_rest, frames.number(&rest), thin));
                tree.sources.push(None);
            }
            let Some((depth, number)) = stack.pop() else { return tree };
            let samples = profile.calls[number].samples;
            tree.calls.push((depth, frames.number(function(number)), samples));
            tree.sources.push(Some(number));
            depth_of_rest = depth + 1;
            thin = enter(Some(number as u32), depth_of_rest, &mut stack);
        }
    }
}

#[cfg(test)]
mod tests {
    use evidence::ProfileCall;
    use judge::cpu_profile::Frame;

    use super::*;

    fn profile(names: &[&str], calls: &[(Option<u32>, u32, u64)]) -> Profile {
        let function =
            |name: &str| Function { name: name.to_owned(), module: String::new(), kind: FrameKind::User };
        let frame = |name: &&str| Frame { function: function(name), own: 0, total: 0 };
        let call = |(parent, frame, samples): &(Option<u32>, u32, u64)| ProfileCall {
            parent: *parent,
            frame: *frame,
            samples: *samples,
        };
        let calls: Vec<ProfileCall> = calls.iter().map(call).collect();
        let samples = calls.iter().map(|call| call.samples).sum();
        Profile { samples, runs: 1, frames: names.iter().map(frame).collect(), calls, ..Profile::default() }
    }

    fn told(drawn: &CpuProfiles) -> Vec<(u32, &str, u64)> {
        let told =
            |(depth, frame, samples): &(u32, usize, u64)| (*depth, drawn.frames[*frame].0.as_str(), *samples);
        drawn.profiles[0].calls.iter().map(told).collect()
    }

    #[test]
    fn thin_branches_become_rest_of_their_caller() {
        let calls = [
            (None, 0, 0),
            (Some(0), 1, 9_980),
            (Some(0), 2, 1),
            (Some(2), 3, 3),
            (Some(0), 3, 2),
            (Some(1), 2, 14),
        ];
        let profile = profile(&["web", "main", "thin", "leaf"], &calls);
        let drawn = DrawnProfiles::of(&[(3, profile)], 1).unwrap().profiles;
        let expected = [(0, "web", 0), (1, REST, 6), (1, "main", 9_980), (2, "thin", 14)];
        assert_eq!(told(&drawn), expected);
        assert_eq!((drawn.profiles[0].row, drawn.profiles[0].least_share), (3, SHARE_MIN));
    }

    #[test]
    fn large_trees_lose_thin_branches() {
        let mut calls = vec![(None, 0, 0)];
        calls.extend((0..6_000).map(|frame| (Some(0), 1 + frame, u64::from(1 + frame % 2) * 10)));
        let names: Vec<String> = (0..6_001).map(|name| format!("<b>f{name}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let profile = profile(&names, &calls);
        let drawn = DrawnProfiles::of(&[(0, profile)], 1).unwrap().profiles;
        let sum: u64 = drawn.profiles[0].calls.iter().map(|(.., samples)| samples).sum();
        assert!(drawn.profiles[0].calls.len() <= *ROW_CALLS_RANGE.end() + 1);
        assert_eq!(sum, drawn.profiles[0].samples, "no sample is lost");
    }

    #[test]
    fn profile_with_too_few_samples_has_no_tree() {
        let profile = profile(&["web", "main"], &[(None, 0, 0), (Some(0), 1, 60)]);
        let drawn = DrawnProfiles::of(&[(0, profile)], 1).unwrap().profiles;
        assert!(drawn.profiles[0].calls.is_empty() && !drawn.profiles[0].doubts.is_empty());
    }
}
