//! Tests of sums, shares, and differences of artificial profiles.

use evidence::{CpuProfile, ProfileFrame};
use record::WindowCounts;

use super::*;
use crate::resources::{Resources, Usage};
use crate::window::Window;

/// Builds the profile of a process `web` whose `main` calls the given functions, each with its kind and own samples.
fn profile(functions: &[(&str, FrameKind, u64)]) -> CpuProfile {
    let samples = functions.iter().map(|(.., own)| own).sum();
    let frame = |name: &str, kind, [own, total]: [u64; 2]| ProfileFrame {
        name: name.to_owned(),
        module: String::new(),
        kind,
        own,
        total,
    };
    let mut frames =
        vec![frame("web", FrameKind::Process, [0, samples]), frame("main", FrameKind::User, [0, samples])];
    let call = |parent, frame, samples| ProfileCall { parent, frame, samples };
    let mut calls = vec![call(None, 0, 0), call(Some(0), 1, 0)];
    for (name, kind, own) in functions {
        calls.push(call(Some(1), frames.len() as u32, *own));
        frames.push(frame(name, *kind, [*own, *own]));
    }
    let span_ns = 10_000_000_000;
    CpuProfile {
        frequency_hz: 100,
        has_kernel: true,
        samples,
        span_ns,
        frames,
        calls,
        ..CpuProfile::default()
    }
}

/// Builds a run of 10 s with a mean number of cores used by the system, and a number of requests.
fn measured(cores: f64, requests: u64) -> Measured {
    let system = Usage { cpu_user_s: cores * 10.0, ..Usage::default() };
    let counts = WindowCounts { ok: requests, ..WindowCounts::default() };
    Measured {
        window: Some(Window { length_s: 10.0, counts, offered: None, backlog: None }),
        resources: Some(Resources { covered_s: 10.0, system: Some(system), ..Resources::default() }),
        ..Measured::default()
    }
}

const USER: FrameKind = FrameKind::User;

#[test]
fn profiles_are_summed_and_shares_have_intervals() {
    let (one, other) = (
        profile(&[("a", USER, 600), ("send", FrameKind::Kernel, 400)]),
        profile(&[("send", FrameKind::Kernel, 300), ("a", USER, 700)]),
    );
    let figures = measured(1.0, 1_000);
    let sum = Profile::of_profiles([(&one, &figures), (&other, &figures)]).unwrap();
    assert_eq!((sum.runs, sum.samples, sum.calls.len()), (2, 2_000, 4));
    let names: Vec<(&str, u64)> =
        sum.functions().map(|frame| (frame.function.name.as_str(), frame.own)).collect();
    assert_eq!(names, [("a", 1_300), ("send", 700)]);
    let (share, [low, high]) = sum.share(1_300).unwrap();
    assert!(share == 0.65 && low > 0.62 && low < share && share < high && high < 0.68);
    assert_eq!((sum.us_per_request, sum.us(1_000)), (Some(10_000.0), Some(5_000.0)));
    assert!((sum.covered.unwrap() - 1.0).abs() < 1e-9);
    let space = |kind, samples| Space { process: "web".to_owned(), kind, samples };
    assert_eq!(sum.spaces, [space(USER, 1_300), space(FrameKind::Kernel, 700)]);
    let call_of =
        |name: &str| sum.calls.iter().find(|call| sum.frames[call.frame as usize].function.name == name);
    assert_eq!(call_of("a").unwrap().samples, 1_300);
}

#[test]
fn too_few_samples_give_no_shares_and_low_coverage_is_visible() {
    let few = profile(&[("a", USER, SAMPLES_MIN - 1)]);
    let sum = Profile::of_profiles([(&few, &measured(1.0, 1_000))]).unwrap();
    assert_eq!((sum.is_enough(), sum.share(50), sum.us(50)), (false, None, None));
    let half = profile(&[("a", USER, 500)]);
    let sum = Profile::of_profiles([(&half, &measured(1.0, 1_000))]).unwrap();
    assert!(sum.covered.unwrap() < COVERED_MIN_SHARE);
    assert_eq!(Profile::of_profiles([]), None);
    let unknown = Profile::of_profiles([(&half, &Measured::default())]).unwrap();
    assert_eq!((unknown.covered, unknown.us_per_request), (None, None));
    assert_eq!(sum.functions_in(&unknown), None);
    let user_only = CpuProfile { has_kernel: false, ..half };
    let sum = Profile::of_profiles([(&user_only, &measured(1.0, 1_000))]).unwrap();
    assert_eq!((sum.covered, sum.us_per_request), (None, None), "nobody sampled the kernel");
}

#[test]
fn differences_are_in_cpu_time_per_request() {
    // The second variant handles half as many requests with the same CPU time. The whole increase is in `parse`.
    let first = profile(&[("parse", USER, 500), ("send", FrameKind::Kernel, 500)]);
    let second = profile(&[("parse", USER, 750), ("send", FrameKind::Kernel, 250)]);
    let a = Profile::of_profiles([(&first, &measured(1.0, 10_000))]).unwrap();
    let b = Profile::of_profiles([(&second, &measured(1.0, 5_000))]).unwrap();
    let differences = a.functions_in(&b).unwrap();
    let [parse, send] = &differences[..] else { panic!("{differences:?}") };
    assert_eq!(
        (parse.of.name.as_str(), parse.us_per_request, parse.more_us),
        ("parse", [500.0, 1_500.0], 1_000.0)
    );
    assert!(parse.is_clear() && parse.interval_us[0] > 900.0 && parse.interval_us[1] < 1_100.0);
    assert_eq!((send.us_per_request, send.is_clear()), ([500.0, 500.0], false));
    let spaces = a.spaces_in(&b).unwrap();
    assert_eq!((&spaces[0].of, spaces[0].more_us), (&("web".to_owned(), USER), 1_000.0));
    let gone = Profile::of_profiles([(&profile(&[("new", USER, 1_000)]), &measured(1.0, 10_000))]).unwrap();
    let found = a.functions_in(&gone).unwrap();
    assert_eq!((found[0].of.name.as_str(), found[0].samples), ("new", [0, 1_000]));
    assert_eq!(a.functions_in(&a).unwrap().iter().filter(|difference| difference.is_clear()).count(), 0);
}

#[test]
fn differently_named_builds_are_matched() {
    let named = |program: &str, parse: u64, send: u64| {
        let mut profile = profile(&[("parse", USER, parse), ("send", FrameKind::Kernel, send)]);
        profile.frames[0].name = program.to_owned();
        profile.frames[2].module = program.to_owned();
        Profile::of_profiles([(&profile, &measured(1.0, 10_000))]).unwrap()
    };
    let (a, b) = (named("server-1", 500, 500), named("server-2", 750, 250));
    let functions = a.functions_in(&b).unwrap();
    let found: Vec<_> =
        functions.iter().map(|one| (one.of.name.as_str(), one.of.module.as_str(), one.samples)).collect();
    assert_eq!(found, [("parse", "", [500, 750]), ("send", "", [500, 250])]);
    let spaces = a.spaces_in(&b).unwrap();
    assert!(spaces.iter().all(|space| space.of.0 == THE_SYSTEM) && spaces.len() == 2, "{spaces:?}");
    assert_eq!(a.spaces_in(&a).unwrap()[0].of.0, "server-1");
}

#[test]
fn path_differences_include_callees_and_ignore_program_names() {
    let figures = measured(1.0, 1_000);
    let of = |process: &str, functions: &[(&str, FrameKind, u64)]| {
        let mut profile = profile(functions);
        profile.frames[0].name = process.to_owned();
        profile.frames[1..].iter_mut().for_each(|frame| frame.module = process.to_owned());
        Profile::of_profiles([(&profile, &figures)]).unwrap()
    };
    let first = of("server_a", &[("parse", USER, 5_000), ("send", FrameKind::Kernel, 5_000)]);
    let second = of("server_b", &[("parse", USER, 7_500), ("wait", USER, 2_500)]);
    let differences = first.paths_in(&second).unwrap();
    let name = |call: &ProfileCall| second.frames[call.frame as usize].function.name.as_str();
    let more: BTreeMap<&str, (i64, bool)> = second
        .calls
        .iter()
        .zip(&differences)
        .map(|(call, difference)| (name(call), (difference.more_us.round() as i64, difference.is_clear())))
        .collect();
    let expected =
        [("main", (0, false)), ("parse", (2_500, true)), ("server_b", (0, false)), ("wait", (2_500, true))];
    assert_eq!(more, BTreeMap::from(expected));
    assert_eq!(second.totals().len(), second.calls.len());
    let too_few = of("server_a", &[("parse", USER, 50)]);
    assert_eq!(too_few.paths_in(&second), None);
}
