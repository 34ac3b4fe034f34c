//! Reports on studies say whether rows add up, and how even shards are, in every format for people.

use crate::runs::Kept;
use crate::studies::{self, Stored, with_rows};
use report::Options;

fn written(format: &str, study: &Stored) -> String {
    let options = Options { color: false, width: 200, is_wide: false };
    let mut out = Vec::new();
    let format = report::format(format).unwrap();
    report::write_study(format, &study.study, &|run| study.load(run), &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn assert_all_contain(study: &Stored, words: &str) {
    for format in ["terminal", "md", "html"] {
        let text = written(format, study);
        assert!(text.contains(words), "{format} lacks {words:?}: {text}");
    }
}

fn is_first(kept: &Kept) -> bool {
    kept.new.place.as_ref().is_some_and(|(_, place)| place.position == 0)
}

#[test]
fn rows_that_add_up_are_one_line() {
    let study = with_rows::of(|kept| with_rows::add_rows(kept, 0));
    assert_all_contain(&study, "nothing lost, nothing doubled: ");
    assert_all_contain(&study, "rows of 16 runs; in each, as many as requests that ended ok; no key twice");
}

#[test]
fn run_with_lost_rows_is_named() {
    let study = with_rows::of(|kept| with_rows::add_rows(kept, u64::from(is_first(kept)) * 7));
    assert_all_contain(&study, "LOST: at least 7 rows are missing");
    assert_all_contain(&study, "rows of 15 runs add up");
}

#[test]
fn unreadable_rows_are_reported() {
    let study = with_rows::of(with_rows::add_unchecked);
    assert_all_contain(
        &study,
        "no run could be checked: the rows of 16 runs could not be read after the load",
    );
    let study = with_rows::of(|kept| match is_first(kept) {
        true => with_rows::add_unchecked(kept),
        false => with_rows::add_rows(kept, 0),
    });
    assert_all_contain(&study, "rows of 15 runs; in each, ");
    assert_all_contain(
        &study,
        "not all could be checked: the rows of 1 run could not be read after the load",
    );
    let silent = written("terminal", &with_rows::of(|_| {}));
    assert!(!silent.contains("could be checked"), "a study that checks no rows: {silent}");
}

#[test]
fn uneven_shards_are_named() {
    let study = with_rows::of(with_rows::add_shards);
    assert_all_contain(&study, "the largest shard got 2.000 × the mean, more than chance alone gives");
    let complete = &studies::all()[0].1;
    assert!(!written("terminal", complete).contains("the largest shard"));
}
