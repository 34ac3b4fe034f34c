//! Studies without a verdict, because of invalid runs or for other reasons.

use crate::stored::{BLOCK, Queue, Stored, cut_short, died, invalid, place};
use evidence::{Ending, Procedure};
use judge::is_prevented_by_invalid_runs;

/// Returns whether invalid runs prevent a verdict of a finished study of two systems in `blocks` blocks. `ending` gives
/// the endings of both runs of a block.
/// runs of a block.
fn study(procedure: Procedure, why: &str, blocks: u32, ending: impl Fn(u32) -> [Ending; 2]) -> bool {
    let stored = Stored::new();
    let queue = Queue { rate_per_s: 20, warm_up_s: 0, measured_s: 2, ..Queue::default() };
    let places: Vec<_> = (0..blocks)
        .flat_map(|block| ["a", "b"].map(|system| (block, system)))
        .zip(0..)
        .map(|((block, system), position)| place(position, block, BLOCK, system))
        .collect();
    let study = stored.study(procedure, blocks, places.clone());
    for (number, pair) in places.chunks(2).enumerate() {
        for (place, ending) in pair.iter().zip(ending(number as u32)) {
            stored.run(Some((&study, place)), Some(&queue), &ending);
        }
    }
    assert!(!is_prevented_by_invalid_runs(&stored.load(&study)), "it is not over");
    stored.end(&study, Some(why));
    is_prevented_by_invalid_runs(&stored.load(&study))
}

fn ok() -> Ending {
    crate::stored::ending()
}

#[test]
fn too_many_invalid_runs_prevent_a_verdict() {
    let both_from =
        |from: u32| move |block: u32| if block >= from { [invalid(), invalid()] } else { [ok(), ok()] };
    assert!(study(Procedure::Blocks, "blocks", 8, both_from(3)));
    assert!(!study(Procedure::Blocks, "blocks", 8, both_from(6)), "six blocks have a verdict");
    assert!(!study(Procedure::Blocks, "blocks", 4, both_from(1)), "four never have");
    assert!(
        study(Procedure::Blocks, "blocks", 12, |block| {
            if block >= 8 { [invalid(), ok()] } else { [ok(), ok()] }
        }),
        "the rest is a biased choice"
    );
}

#[test]
fn comparison_given_up_because_of_invalid_runs_has_no_verdict() {
    let duel = || Procedure::Duel { pilot_blocks: 0, looks_early: false, slices: None };
    assert!(study(duel(), "not fit", 8, |block| if block >= 4 { [invalid(), ok()] } else { [ok(), ok()] }));
    assert!(
        !study(duel(), "not fit", 8, |block| if block >= 4 { [died(), ok()] } else { [ok(), ok()] }),
        "it failed"
    );
    assert!(!study(duel(), "decided", 8, |_| [ok(), ok()]));
    assert!(!study(duel(), "budget", 8, |block| if block >= 1 {
        [cut_short(), cut_short()]
    } else {
        [invalid(), ok()]
    }));
}
