//! JTL files have the header that JMeter 5 writes, and values of the kinds that its readers expect.

use crate::runs;
use evidence::Run;
use report::{Options, ReportError};

fn written(runs: &[Run]) -> Result<String, ReportError> {
    let mut out = Vec::new();
    report::write(
        report::format("jtl").unwrap(),
        runs,
        &Options { color: false, width: 80, is_wide: true },
        &mut out,
    )?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn header_and_types() {
    let text = written(&[runs::every_kind_of_error(), runs::normal()]).unwrap();
    let header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                  sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";
    assert_eq!(text.lines().next(), Some(header));
    assert!(!text.contains('\r'));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let column = |name: &str| header.split(',').position(|column| column == name).unwrap();
    let mut lines = 0;
    for record in reader.records() {
        let record = record.unwrap();
        for name in [
            "timeStamp",
            "elapsed",
            "bytes",
            "sentBytes",
            "grpThreads",
            "allThreads",
            "Latency",
            "IdleTime",
            "Connect",
        ] {
            assert!(record[column(name)].parse::<u64>().is_ok(), "{name}: {record:?}");
        }
        let number = |name| record[column(name)].parse::<u64>().unwrap();
        assert!(number("timeStamp") >= 1_795_271_102_042, "warm-up is left out");
        assert!(number("Latency") <= number("elapsed"));
        assert!(matches!(&record[column("success")], "true" | "false"));
        assert_eq!(&record[column("success")] == "true", record[column("failureMessage")].is_empty());
        lines += 1;
    }
    assert_eq!(lines, 3 * 3 * 2 + 3 * 4);
}

#[test]
fn a_run_without_a_log_says_how_to_get_one() {
    let error = written(&[runs::empty()]).unwrap_err();
    assert!(matches!(error, ReportError::NoRequestLog { .. }));
    assert!(error.to_string().contains("--log-requests 1000"), "{error}");
}
