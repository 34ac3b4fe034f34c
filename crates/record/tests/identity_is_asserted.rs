//! The accounting identity is asserted wherever counts merge, in every build profile.

use record::{Counts, Finish, IdentityBroken, Interval, Outcome, Phase, Recorder, Tally, Whole};

fn counted(counts: Counts) -> Tally {
    Tally { counts, ..Tally::default() }
}

/// Returns consistent counts: one request of each outcome, and one not sent.
fn sound() -> Counts {
    Counts { planned: 6, sent: 5, not_sent: 1, ok: 1, rejected: 1, failed: 1, timed_out: 1, unfinished: 1 }
}

/// Returns counts with one too many, which break the identity immediately.
fn one_too_many() -> [Counts; 6] {
    let sound = sound();
    [
        Counts { sent: 6, ok: 2, ..sound },
        Counts { not_sent: 2, ..sound },
        Counts { ok: 2, ..sound },
        Counts { rejected: 2, ..sound },
        Counts { failed: 2, ..sound },
        Counts { unfinished: 2, ..sound },
    ]
}

/// Returns counts with one too few, which break the identity when the run is settled.
fn one_too_few() -> [Counts; 4] {
    let sound = sound();
    [
        Counts { planned: 7, ..sound },
        Counts { not_sent: 0, ..sound },
        Counts { ok: 0, ..sound },
        Counts { timed_out: 0, ..sound },
    ]
}

#[test]
fn request_counted_twice_is_rejected_on_merge() {
    for counts in one_too_many() {
        let mut whole = Whole::default();
        assert_eq!(whole.absorb(&counted(sound())), Ok(()));
        let IdentityBroken(sum) = whole.absorb(&counted(counts)).expect_err("one is counted twice");
        assert_eq!(sum, whole.tally().counts, "the error names the sum that does not add up");
        assert!(whole.clone().settle().is_err());
        assert!(whole.cut_short().is_err(), "not even a run that was cut short may count twice");
    }
}

#[test]
fn lost_request_is_rejected_when_the_run_is_settled() {
    for counts in one_too_few() {
        let mut whole = Whole::default();
        assert_eq!(whole.absorb(&counted(counts)), Ok(()), "it may still be in flight, or wait");
        assert!(whole.clone().settle().is_err(), "{counts:?}");
        let check_settled = whole.cut_short().expect("what is missing was in flight or waited");
        assert_eq!(check_settled.counts.check_settled(), Ok(()));
    }
}

#[test]
fn overflowing_counts_are_rejected() {
    let counts = Counts { planned: u64::MAX, sent: u64::MAX, not_sent: u64::MAX, ..Counts::default() };
    assert!(counts.in_flight().is_err());
    assert!(counts.check_settled().is_err());
}

#[test]
fn recorded_seconds_always_add_up() {
    let mut recorder = Recorder::new((1_500_000_000, u64::MAX), 0);
    let mut wholes = [Whole::default(), Whole::default()];
    let mut seconds: Vec<Interval> = Vec::new();
    for request in 0..4_000u64 {
        let intended_ns = request * 1_000_000;
        let finished_ns = intended_ns + 700_000_000;
        recorder.turn(finished_ns, |second| seconds.push(second));
        recorder.tally(intended_ns).note_sent(intended_ns);
        let outcome = Outcome::ALL[(request % 5) as usize];
        let first_byte_ns = Some(finished_ns - 1);
        let finish =
            Finish { intended_ns, sent_ns: intended_ns, first_byte_ns, finished_ns, outcome, status: 200 };
        recorder.finished(&finish);
    }
    recorder.close(&mut |second| seconds.push(second));
    for second in &seconds {
        assert_eq!(wholes[second.phase as usize].absorb(&second.tally), Ok(()));
    }
    let [warm_up, measured] = wholes.map(|whole| whole.settle().expect("nothing is in flight").counts);
    assert_eq!((warm_up.sent, measured.sent), (1_500, 2_500));
    assert!(seconds.iter().any(|second| second.phase == Phase::WarmUp));
}
