//! Adds up the content of replies over the workers of a load.

use engine::{Contents, WorkerEnd};
use evidence::{SizeClasses, StepContents};
use record::Sizes;
use wire::Coding;

/// Content of the replies to each of `steps` steps. Steps without replies are omitted.
pub(crate) fn by_step(ends: &[WorkerEnd], steps: usize) -> Vec<StepContents> {
    let sum = |step: u16| {
        let mut sum = Contents::default();
        ends.iter().filter_map(|end| end.contents.get(usize::from(step))).for_each(|more| sum.merge(more));
        (sum.replies > 0).then(|| of_step(step, sum))
    };
    (0..=u16::MAX).take(steps).filter_map(sum).collect()
}

fn of_step(step: u16, contents: Contents) -> StepContents {
    let Contents { replies, sizes, decoded, rows, codings, cache_hits, cache_misses } = contents;
    let codings = Coding::ALL.into_iter().zip(codings);
    let codings = codings.filter(|(coding, count)| *coding != Coding::Identity && *count > 0);
    StepContents {
        step,
        replies,
        sizes: classes(sizes),
        decoded: classes(decoded),
        rows: classes(rows),
        codings: codings.map(|(coding, count)| (coding.name().to_owned(), count)).collect(),
        cache_hits,
        cache_misses,
    }
}

fn classes(sizes: Sizes) -> SizeClasses {
    SizeClasses(sizes.classes().collect())
}
