//! HdrHistogram's own reader can read the interval log.

use crate::runs;
use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use evidence::Run;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use record::{OutcomeHistograms, Phase, Tally};
use report::Options;

fn written(run: &Run) -> Vec<u8> {
    let mut out = Vec::new();
    let format = report::format("hlog").unwrap();
    report::write(
        format,
        std::slice::from_ref(run),
        &Options { color: false, width: 80, is_wide: true },
        &mut out,
    )
    .unwrap();
    out
}

fn whole(run: &Run) -> Tally {
    let mut whole = Tally::default();
    for step in 0..run.new.steps.len() {
        whole.merge(&run.total(step as u16, Phase::Measured).unwrap());
    }
    whole
}

#[test]
fn sum_of_all_lines_equals_stored_histograms() {
    for run in [runs::normal(), runs::every_kind_of_error(), runs::late(), runs::cut_short(), runs::empty()] {
        let log = written(&run);
        let mut sums: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
        let mut last = Duration::ZERO;
        for entry in IntervalLogIterator::new(&log) {
            let interval = match entry.unwrap() {
                LogEntry::Interval(interval) => interval,
                LogEntry::StartTime(at) | LogEntry::BaseTime(at) => {
                    assert_eq!(at, Duration::from_millis(run.new.started_at_unix_ms as u64));
                    continue;
                }
            };
            assert!(interval.start_timestamp() >= last, "in order of time");
            last = interval.start_timestamp();
            assert_eq!(interval.duration(), Duration::from_secs(1));
            let packed =
                base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
            let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut packed.as_slice()).unwrap();
            assert!(
                (interval.max() * 1e6 - histogram.max() as f64).abs() <= histogram.max() as f64 / 1e3 + 1e3
            );
            let tag = interval.tag().unwrap().as_str().to_owned();
            match sums.get_mut(&tag) {
                Some(sum) => sum.add(&histogram).unwrap(),
                None => drop(sums.insert(tag, histogram)),
            }
        }
        let whole = whole(&run);
        if whole.counts.sent == 0 {
            assert!(sums.is_empty());
            continue;
        }
        assert_eq!(sums.keys().collect::<Vec<_>>(), ["lateness", "response", "service"]);
        for (tag, stored) in
            [("response", &whole.response), ("service", &whole.service), ("lateness", &whole.lateness)]
        {
            assert_same(&sums[tag], stored);
        }
    }
}

fn assert_same(sum: &Histogram<u64>, stored: &OutcomeHistograms) {
    let stored = stored.all();
    assert_eq!(sum.len(), stored.count());
    for (value_ns, count) in stored.counters() {
        assert_eq!(sum.count_at(value_ns), count, "{value_ns}");
    }
}

#[test]
fn header_has_version_1_3() {
    let text = String::from_utf8(written(&runs::normal())).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "#[Histogram log format version 1.3]");
    assert_eq!(lines[2], "#[StartTime: 1795271101.042 (seconds since epoch), Sat Nov 21 14:25:01 UTC 2026]");
    assert_eq!(
        lines[4],
        r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#
    );
    assert!(lines[5].starts_with("Tag=response,1.000,1.000,"), "the warm-up of second 0 is left out");
}
