//! Hostile logs: every reader ends without a panic on any input.

use replay::{FORMATS, Layout, Log, LoggedResult};

use crate::support::read_with;

/// Lines of all formats, whole and torn.
const SEEDS: &[&str] = &[
    "2026-01-02 03:04:05.000 UTC [12] bob@shop LOG:  statement: SELECT 'ä', $1",
    "2026-01-02 03:04:05.000 UTC [12] bob@shop LOG:  duration: 99999999999999999999.5 ms  execute a: SELECT $1",
    "2026-01-02 03:04:05.000 UTC [12] bob@shop DETAIL:  Parameters: $1 = '",
    "\tcontinued",
    "2026-01-02 03:04:05.678 UTC,\"bob\",\"shop\",12,\"127.0.0.1:5\",69.c,1,\"SELECT\",2026-01-02 03:00:00 UTC,3/4,0,LOG,00000,\"statement: SELECT 1\",,,,,,,,,\"psql\"",
    "{\"timestamp\":\"2026-01-02 03:04:05.678 UTC\",\"session_id\":\"1\",\"error_severity\":\"LOG\",\"message\":\"statement: SELECT 1\"}",
    "2024-01-19T16:29:48.142000Z\t   12 Query\tSELECT 1",
    "# Time: 2024-01-19T16:29:48.141142Z",
    "# User@Host: app[app] @ web1 [10.0.0.5]  Id:    12",
    "# Query_time: 0.1  Lock_time: 0.0 Rows_sent: 18446744073709551616  Rows_examined: 1",
    "use shop;",
    "SET timestamp=18446744073709551615;",
    "SELECT '/* $a$ b",
    "10.0.0.1 - - [02/Jan/2026:03:04:05 +9999] \"GET /ä?b=\\x1 HTTP/1.1\" 99999 12 \"-\" \"\\\"",
    "{\"ts\":1e308,\"request\":{\"method\":\"GET\",\"uri\":\"/x\"},\"duration\":-1,\"status\":-1}",
];

/// Pseudo-random numbers, equal in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

fn mutated(chance: &mut Chance) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..chance.below(8) + 1 {
        let mut line = SEEDS[chance.below(SEEDS.len())].as_bytes().to_vec();
        for _ in 0..chance.below(4) {
            let at = chance.below(line.len() + 1);
            match chance.below(4) {
                0 => line.truncate(at),
                1 => line.insert(at, chance.below(256) as u8),
                2 if at < line.len() => line[at] = b"\"'\\,;#\t\0$%({[ 09"[chance.below(16)],
                _ => line.extend_from_slice(SEEDS[chance.below(SEEDS.len())].as_bytes()),
            }
        }
        text.extend(line);
        text.push(b'\n');
    }
    text
}

#[test]
fn mutated_lines_cause_no_panic() {
    let mut chance = Chance(7);
    let layout = Layout {
        prefix: Some("%m [%p] %q%u@%d ".to_owned()),
        pattern: Some("$time_local $request_method,$request_uri".to_owned()),
    };
    for _ in 0..2_000 {
        let text = mutated(&mut chance);
        for format in FORMATS {
            let (entries, ..) = read_with(&text, Some(format.name), &layout).expect("memory can be read");
            for entry in entries {
                assert!(!entry.fingerprint.chars().any(char::is_control), "{entry:?}");
                assert!(!matches!(entry.result, LoggedResult::Error(Some(code)) if !code.is_ascii()));
            }
        }
        // The format may be unknown, but detection ends.
        let _ = read_with(&text, None, &Layout::default());
    }
}

#[test]
fn endless_line_and_endless_quote_are_bounded() {
    let long =
        [b"2026-01-02 03:04:05.678 UTC [1] LOG:  statement: SELECT 1\n".as_slice(), &vec![b'x'; 17 << 20]]
            .concat();
    let (entries, skipped, _) = read_with(&long, None, &Layout::default()).unwrap();
    assert_eq!((entries.len(), skipped.count(replay::Reason::TooLong)), (1, 1));
    let open = "a,\"\n".repeat(5 << 20);
    let mut log =
        Log::open(open.as_bytes(), replay::Format::named("postgres-csv"), &Layout::default()).unwrap();
    assert_eq!(log.next_entry().unwrap(), None);
}
