//! Commands in the output of MONITOR.

use replay::{Format, Reason, Survey};

use crate::support::{counts, read, texts};

const MONITOR: &str = r#"OK
1767323045.100000 [0 127.0.0.1:5001] "SET" "k" "a \"b\"\x00\n"
1767323045.250000 [0 [::1]:5002] "MULTI"
1767323045.300000 [0 127.0.0.1:5001] "auth" "(redacted)"
1767323045.310000 [0 127.0.0.1:5001] "EVAL" "return redis.call('get', KEYS[1])" "1" "k"
1767323045.310001 [0 lua] "get" "k"
1767323045.320000 [0 [::1]:5002] "EXEC"
1767323045.330000 [3 unix:/tmp/redis.sock] "HSET" "h" "a" "1" "b" "2"
1767323045.340000 [0 127.0.0.1:5001] "GET" "k
not a line
"#;

#[test]
fn monitor_has_sessions_by_client_and_skips_what_scripts_call() {
    let (entries, skipped) = read(MONITOR, "monitor");
    assert_eq!(
        texts(&entries),
        [
            (0, r#""SET" "k" "a \"b\"\x00\n""#),
            (1, r#""MULTI""#),
            (0, r#""EVAL" "return redis.call('get', KEYS[1])" "1" "k""#),
            (1, r#""EXEC""#),
            (2, r#""HSET" "h" "a" "1" "b" "2""#),
        ]
    );
    assert_eq!(entries[1].at_ns - entries[0].at_ns, 150_000_000);
    assert_eq!((&*entries[0].database, &*entries[4].database), ("0", "3"));
    assert_eq!(entries[4].fingerprint, "hset ? ? ? ? …");
    let reasons =
        [(Reason::Unparsable, 2), (Reason::NoStatement, 1), (Reason::Command, 1), (Reason::PartOfScript, 1)];
    assert_eq!(counts(&skipped), reasons);
    let mut survey = Survey::new(Format::named("monitor").unwrap().traffic);
    let writes: Vec<bool> = entries.iter().map(|entry| survey.classify(entry).1).collect();
    assert_eq!(writes, [true, false, true, false, true]);
}
