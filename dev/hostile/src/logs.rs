//! Logs to replay: every reader terminates, and yields the same statements for any split of a log.

use std::io::BufReader;

use replay::{Entry, FORMATS, Format, Layout, Log, Skipped};

/// Returns a seed log in each format.
pub(crate) fn samples() -> Vec<Vec<u8>> {
    SAMPLES.iter().map(|text| text.as_bytes().to_vec()).collect()
}

const SAMPLES: &[&str] = &[
    "2026-01-02 03:04:05.000 UTC [12] bob@shop LOG:  execute <unnamed>: SELECT $1,\n\t'b'\n\
     2026-01-02 03:04:05.000 UTC [12] bob@shop DETAIL:  Parameters: $1 = 'it''s'\n\
     2026-01-02 03:04:05.250 UTC [12] bob@shop LOG:  duration: 149.500 ms\n\
     2026-01-02 03:04:05.310 UTC [13] eve@shop ERROR:  42601: syntax error at or near \"SELEC\"\n\
     2026-01-02 03:04:05.310 UTC [13] eve@shop STATEMENT:  SELEC 1\n",
    "2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms  statement: SELECT 1\n",
    "2026-01-02 03:04:05.678 UTC,\"bob\",\"shop\",12,\"127.0.0.1:5\",69.c,1,\"SELECT\",2026-01-02 03:00:00 UTC,3/4,0,LOG,00000,\
     \"statement: SELECT \"\"a\"\",\n1\",,,,,,,,,\"psql\"\n",
    "{\"timestamp\":\"2026-01-02 03:04:05.678 UTC\",\"session_id\":\"1\",\"error_severity\":\"LOG\",\"message\":\"statement: SELECT 1\"}\n",
    "2024-01-19T16:29:48.141142Z\t   12 Connect\tapp@web1 on shop using TCP/IP\n\
     2024-01-19T16:29:48.142000Z\t   12 Query\tSELECT 1,\n2\n",
    "# Time: 2024-01-19T16:29:48.141142Z\n# User@Host: app[app] @ web1 [10.0.0.5]  Id:    12\n\
     # Query_time: 0.1  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nuse shop;\nSET timestamp=1705681788;\nSELECT 1;\n",
    "OK\n1767323045.107412 [0 127.0.0.1:60866] \"SET\" \"k\" \"a \\\"\\x00\\n\"\n1767323045.2 [1 lua] \"get\" \"k\"\n\
     1767323045.3 [1 [::1]:5] \"multi\"\n1767323045.4 [1 unix:/tmp/r.sock] \"auth\" \"(redacted)\"\n",
    "10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] \"GET /a?b=1 HTTP/1.1\" 200 12 \"-\" \"curl \\x22x\\x22\"\n",
    "{\"log\":{\"entries\":[\n{\"startedDateTime\":\"2026-01-02T03:04:05.5Z\",\"time\":1.5,\"request\":{\"method\":\"POST\",\"url\":\"https://a/x?b=1\",\
     \"headers\":[{\"name\":\"Accept\",\"value\":\"*/*\"}],\"postData\":{\"text\":\"{}\"},\"bodySize\":2},\n\"response\":{\"status\":200}}]}}\n",
    "{\"ts\":1767323045.5,\"request\":{\"method\":\"GET\",\"host\":\"a\",\"uri\":\"/x\"},\"duration\":0.25,\"status\":200}\n",
];

/// Reads bytes as a log in each format.
pub(crate) fn feed(bytes: &[u8]) {
    let layout = Layout {
        prefix: Some("%m [%p] %q%u@%d ".to_owned()),
        pattern: Some("$remote_addr [$time_local] \"$request\" $status".to_owned()),
    };
    for format in FORMATS {
        let whole = read(bytes, bytes.len().max(1), format, &layout);
        let pieces = read(bytes, 7, format, &layout);
        assert_eq!(whole, pieces, "{} depends on how the log is cut", format.name);
    }
    if let Some(format) = Format::detect(bytes) {
        read(bytes, 64, format, &Layout::default());
    }
}

fn read(bytes: &[u8], piece: usize, format: &'static Format, layout: &Layout) -> (Vec<Entry>, Skipped) {
    let input = BufReader::with_capacity(piece, bytes);
    let mut entries = Vec::new();
    let Ok(mut log) = Log::open(input, Some(format), layout) else { return (entries, Skipped::default()) };
    while let Some(entry) = log.next_entry().expect("memory can be read") {
        entries.push(entry);
    }
    (entries, log.skipped().clone())
}
