//! Tests of the selection of interventions for a configuration.

use super::*;

fn known() -> KnownFacts {
    KnownFacts {
        users: Some(8),
        system_cores: 2,
        generator_cores: 2,
        can_limit_cpu: true,
        ..KnownFacts::default()
    }
}

fn names(known: &KnownFacts) -> Vec<String> {
    interventions_for(known).changes.into_iter().map(|changed| changed.name).collect()
}

#[test]
fn interventions_on_the_likely_bottleneck_come_first() {
    let read = Readings {
        used_cores: Some(0.97),
        busy: Some(0.6),
        busiest_thread: Some(0.96),
        cores: 2,
        ..Readings::default()
    };
    let one_core = KnownFacts { suspected: Some(Resource::ONE_CORE), read, ..known() };
    assert_eq!(names(&one_core), ["CPU 0.97 → 0.78 cores", "CPU 0.97 → 0.87 cores", "users 8 → 16"]);
    let waiting = KnownFacts {
        suspected: Some(Resource::UNKNOWN),
        parameters: vec![Parameter {
            name: "workers".to_owned(),
            from: "2".to_owned(),
            to: "3".to_owned(),
            factor: 1.5,
            note: "",
            loses: None,
        }],
        read: Readings {
            used_cores: Some(0.2),
            busy: Some(0.3),
            busiest_thread: Some(0.1),
            cores: 2,
            ..Readings::default()
        },
        threads: Some(1),
        ..known()
    };
    assert_eq!(
        names(&waiting),
        ["workers 2 → 3", "users 8 → 16", "CPU 2.00 → 1.60 cores", "threads of the generator 1 → 2"]
    );
    assert_eq!(interventions_for(&waiting).changes[0].factor, 1.5);
    assert_eq!(interventions_for(&waiting).rungs, [2, 4, 12, 24, 32]);
}

fn readings(used: f64, busy: f64, thread: f64) -> Readings {
    Readings {
        used_cores: Some(used),
        busy: Some(busy),
        busiest_thread: Some(thread),
        cores: 2,
        ..Readings::default()
    }
}

#[test]
fn cpu_of_an_unsaturated_system_is_not_limited_below_its_use() {
    let at = |used, busy, thread, suspected| {
        KnownFacts { read: readings(used, busy, thread), suspected: Some(suspected), ..known() }
            .available_cpu()
    };
    assert_eq!(at(1.0, 0.6, 0.3, Resource::ONE_CORE), Ok((2.0, Resource::MACHINE_CPU)), "no thread is busy");
    assert_eq!(at(1.5, 0.97, 0.9, Resource::MACHINE_CPU), Ok((1.5, Resource::MACHINE_CPU)));
    let others = at(0.5, 0.97, 0.4, Resource::MACHINE_CPU).unwrap_err();
    assert!(
        others.starts_with("CPU time: other processes used most of its cores, and the system 0.50 of 2"),
        "{others}"
    );
    let quota = KnownFacts { quota_millicores: Some(400), suspected: Some(Resource::CPU_QUOTA), ..known() };
    assert_eq!(
        names(&quota)[..3],
        ["CPU 0.40 → 0.32 cores", "CPU 0.40 → 0.50 cores", "CPU 0.40 → 0.36 cores"]
    );
    let nothing = interventions_for(&known()).left_out;
    assert_eq!(nothing, ["CPU time: none of the system was read; use longer runs"]);
}

#[test]
fn system_confined_to_one_core_gets_less_of_it() {
    let confined = |used: f64, waiting: f64| {
        let read = Readings { waiting: Some(waiting), allowed: vec![0], ..readings(used, 0.6, 0.5) };
        KnownFacts { read, suspected: Some(Resource::ONE_CORE), ..known() }
    };
    assert_eq!(confined(0.95, 3.0).available_cpu(), Ok((0.95, Resource::ONE_CORE)), "threads share it");
    assert_eq!(confined(0.3, 0.1).available_cpu(), Ok((1.0, Resource::ONE_CORE)), "it is not saturated");
    assert!(confined(0.3, 0.7).available_cpu().is_err(), "others use it");
    let all = Readings { waiting: Some(3.0), allowed: vec![0, 1], ..readings(1.0, 0.6, 0.5) };
    assert_eq!(KnownFacts { read: all, ..known() }.available_cpu(), Ok((2.0, Resource::MACHINE_CPU)));
}

#[test]
fn io_is_limited_if_the_plan_limits_it_or_disks_are_suspected() {
    let io = IoLimits { writes_per_s: Some(200), ..IoLimits::default() };
    let limited = KnownFacts { can_limit_io: true, io, ..known() };
    let changes = interventions_for(&limited).changes;
    let of_io: Vec<_> = changes.iter().filter(|one| one.tests == ["io_limit"]).collect();
    assert_eq!(of_io[0].name, "I/O limits +25 %");
    let written = |changed: &Changed| match changed.change {
        Change::Io { limits } => limits.writes_per_s,
        _ => None,
    };
    let all: Vec<_> =
        of_io.iter().map(|changed| (written(changed), changed.factor, changed.can_refute)).collect();
    assert_eq!(all, [(Some(250), 1.25, true), (Some(160), 0.8, false), (Some(180), 0.9, false)]);
    let read = Readings { io_bytes_per_s: [Some(100.0), Some(1e6)], ..readings(0.1, 0.2, 0.1) };
    let of_disk = KnownFacts { can_limit_io: true, read, suspected: Some(Resource::DISK), ..known() };
    let first = &interventions_for(&of_disk).changes[0];
    assert_eq!((first.name.as_str(), first.tests[0].as_str()), ("I/O −20 % of what it used", "disk"));
    let less = IoLimits { write_bytes_per_s: Some(800_000), ..IoLimits::default() };
    assert_eq!(first.change, Change::Io { limits: less });
    for (why, other) in [
        ("no control group here", KnownFacts { can_limit_io: false, ..of_disk.clone() }),
        ("less than 64 KiB/s", KnownFacts { read: readings(0.1, 0.2, 0.1), ..of_disk.clone() }),
        ("no control group here", KnownFacts { can_limit_io: false, ..limited }),
    ] {
        let left_out = interventions_for(&other).left_out;
        let of_io: Vec<_> = left_out.iter().filter(|words| words.starts_with("I/O: ")).collect();
        assert!(of_io.len() == 1 && of_io[0].contains(why), "{left_out:?}");
    }
    let other = KnownFacts { suspected: Some(Resource::LOCK), ..of_disk };
    assert!(names(&other).iter().all(|name| !name.starts_with("I/O")), "it would slow down any system");
}

#[test]
fn generator_moves_to_cores_outside_of_the_system() {
    let read = Readings { allowed: vec![0], ..readings(0.5, 0.6, 0.5) };
    let apart = KnownFacts { generator_choice: vec![0, 1], read, ..known() };
    assert!(names(&apart).contains(&"generator on core 1 only".to_owned()), "{:?}", names(&apart));
    let everywhere = Readings { allowed: vec![0, 1], ..readings(0.5, 0.6, 0.5) };
    let suspected = Some(Resource::GENERATOR);
    let left_out = interventions_for(&KnownFacts { read: everywhere, suspected, ..apart.clone() }).left_out;
    assert!(left_out.iter().any(|why| why.contains("`pin: auto`")), "{left_out:?}");
    let pinned = KnownFacts { generator_choice: Vec::new(), ..apart };
    assert!(names(&pinned).iter().all(|name| !name.contains("generator")));
}

#[test]
fn dependency_is_delayed_if_it_is_the_likely_bottleneck() {
    let read = Readings { response_ns: Some(40e6), ..Readings::default() };
    let proxies = vec![("far".to_owned(), 5_000_000)];
    let suspected = KnownFacts { read, proxies, suspected: Some(Resource::DEPENDENCY), ..known() };
    let first = &interventions_for(&suspected).changes[0];
    assert_eq!(first.name, "round trip of proxy far +10.0 ms");
    assert_eq!(
        (&first.change, first.factor),
        (&Change::Delay { proxy: "far".to_owned(), delay_us: 10_000 }, 0.8)
    );
    let behind_a_pool = Readings { dependency_ns: Some(20e6), ..suspected.read.clone() };
    let first = &interventions_for(&KnownFacts { read: behind_a_pool, ..suspected.clone() }).changes[0];
    assert_eq!((first.name.as_str(), first.factor), ("round trip of proxy far +5.0 ms", 0.8));
    let unknown = |waits_ns: f64| {
        let read = Readings { dependency_ns: Some(waits_ns), ..suspected.read.clone() };
        KnownFacts { read, suspected: Some(Resource::UNKNOWN), ..suspected.clone() }
    };
    assert!(names(&unknown(20e6)).iter().any(|name| name.contains("proxy")), "half of the response time");
    assert!(names(&unknown(19e6)).iter().all(|name| !name.contains("proxy")));
    let other = KnownFacts { suspected: Some(Resource::LOCK), ..unknown(20e6) };
    assert!(names(&other).iter().all(|name| !name.contains("proxy")));
}

#[test]
fn changes_without_effect_are_omitted() {
    let one = KnownFacts { users: Some(1), ..known() };
    assert_eq!(names(&one), ["users 1 → 2"]);
    let open = KnownFacts { users: None, ..known() };
    assert!(names(&open).is_empty());
    let none = KnownFacts { can_limit_cpu: false, quota_millicores: Some(400), ..known() };
    assert!(names(&none).iter().all(|name| !name.starts_with("CPU 0.40 → 0.32")));
    let left_out = interventions_for(&none).left_out;
    assert!(left_out.len() == 1 && left_out[0].contains("Delegate=yes"), "{left_out:?}");
    let all = KnownFacts { quota_millicores: Some(2_000), ..known() };
    assert!(names(&all).iter().all(|name| !name.contains("2.50")), "the machine has no more");
}
