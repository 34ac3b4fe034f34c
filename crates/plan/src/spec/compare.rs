//! Keys of `compare`: name, meaning, and kind of each value.

use judge::ComparedBy;

use super::{AskedBaseline, Spanned};
use crate::spec::values::AskedMinEffect;
use crate::study::{Find, Interleave};

crate::spec::spec! {
    /// Comparison as given. Values are parsed, but not yet checked against each other.
    pub(crate) struct CompareSpec with COMPARE_KEYS {
        COMPARE_BY "by" "": by: ComparedBy = METRIC, "p99",
            "The metric; default throughput. `outage`, `lost`, and `recovery` are what `events` cost, all of them together; \
             `event NAME: outage` is that of one event. `cost wal_bytes` is a physical cost, by its name in JSON.";
        MIN_EFFECT "min-effect" "": min_effect: AskedMinEffect = MIN_EFFECT, "3%",
            "Smallest relevant difference; default 3%. What events cost may be 0, so it is compared by difference: a duration for \
             `outage` and `recovery`, default 20ms; a number of requests for `lost`, default 1.";
        FIND "find" "": find: Find = FIND, "best",
            "every (default): compares all variants. best: finds the best variant, eliminates clearly worse ones on the way, and \
             confirms the winner in new blocks. best of each: runs all variants in a sweep under the first load, and then compares \
             the best variant of each system in new blocks under all loads. failures: reports which variants fail, and why; \
             `compare: no` is the same with one block.";
        BLOCKS "blocks" "": blocks: u64 = COUNT, "24",
            "Runs of each variant. Two variants, and `find: best`, run until the result is conclusive; `blocks` is then the \
             maximum, default 24. With more variants, the default is 8, or in slices what all pairs need. With `find: best of each`, the blocks of the sweep, default 3. \
             With `replay`, all blocks are made; the default is the smallest number that shows a difference of a single statement. Max 1000.";
        FINAL "final" "": final_blocks: u64 = COUNT, "8",
            "With `find: best of each`: blocks of the final, the only ones that are compared; default 8. Max 1000.";
        PILOT "pilot" "": pilot: u64 = COUNT, "3",
            "Two variants: blocks of the first variant against itself before the comparison, which predict how many blocks a conclusive \
             result takes, and do not count. Default 0: the first blocks of the comparison predict it, and count.";
        ALSO "also" "": also: Vec<Spanned<ComparedBy>> = METRICS, "[ p99, cpu-per-request ]",
            "Further metrics to compare; the false-positive rate holds for all of them together.";
        BASELINE "baseline" "": baseline: AskedBaseline = BASELINE, "puma workers=8",
            "The variant to compare all others with, by its name in reports, in the same blocks; with `find: best`, the variant in \
             use, which the winner must beat. Or a stored run or study, such as { label: main }, measured at another time.";
        WITHIN "within" "": within_ns: u64 = DURATION, "30min",
            "Time limit of all runs together. No run starts that would end later; the report says what is missing.";
        INTERLEAVE "interleave" "": interleave: Interleave = INTERLEAVE, "slices",
            "Two to 8 variants. slices: in each block all are started and stay up, and the load goes to one at a time, in short slices. runs: each \
             run has a start of its own. auto: slices where the plan and the machine allow them. Default: auto for comparisons with 6 blocks or \
             more and without a pilot, else runs.";
        SLICE "slice" "": slice_ns: u64 = DURATION, "2s",
            "With slices: how long each is measured, 1s to 3s; default 1s.";
        PAUSE "pause" "": pauses_idle: bool = PAUSED, "idle",
            "With slices: `idle` stops all processes of a system (SIGSTOP) while the load goes to the other; default `none`.";
        CONTROL "control" "": has_control: bool = CONTROL, "neighbors",
            "With slices: `neighbors` explains a part of the variance by the CPU time that other processes and other machines took during \
             each slice; default `none`.";
        UNLIKE "unlike" "": accepts_unlike: bool = UNLIKE, "ok",
            "Differences between the work of variants, such as the statuses and sizes of replies: `ok` accepts them, and they stand in the \
             details only; default `named`, next to the verdict.";
        DIRECTION "direction" "": is_higher_better: bool = DIRECTION, "lower",
            "Which direction is better; default: higher for throughput, lower for all other metrics.";
    }
    on command lines only {}
}
