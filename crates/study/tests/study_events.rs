//! Events of a study are complete and in order.

use progress::{RunEvent, Standing, VerdictSoFar};
use study::run_study;

use crate::fakes::{Maker, Memory, of};
use crate::virtual_time::faster;

#[test]
fn comparison_publishes_runs_blocks_and_verdicts_in_order() {
    let study = of("1, 2", "{ pilot: 0, blocks: 12 }");
    let memory = Memory::begun(&study);
    let mut maker = Maker::new(&memory, &faster);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let is_typed = |event: &&RunEvent| !matches!(event, RunEvent::Remark(_) | RunEvent::Finding(_));
    let events: Vec<&RunEvent> = maker.events.iter().filter(is_typed).collect();
    let blocks = events.chunks(4);
    assert!(blocks.len() > 1 && blocks.len() * 2 == memory.made().len(), "{events:?}");
    for (block, events) in (0..).zip(blocks) {
        let [
            RunEvent::Next(first),
            RunEvent::Next(second),
            RunEvent::BlockEnded(ended),
            RunEvent::VerdictSoFar(verdict),
        ] = events
        else {
            panic!("{events:?}")
        };
        assert_eq!([first.place.block, second.place.block, ended.block, verdict.blocks - 1], [block; 4]);
        assert_eq!(second.ahead.number, first.ahead.number + 1);
    }
    let Some(RunEvent::VerdictSoFar(VerdictSoFar { variants, standing, is_over, .. })) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(variants.each_ref().map(String::as_str), ["web n=1", "web n=2"]);
    assert!(*is_over && matches!(standing, Standing::Ahead { is_small: false, .. }), "{standing:?}");
}
