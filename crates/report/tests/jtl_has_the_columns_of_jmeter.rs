//! JTL files have the header of JMeter 5, and values of the types that its readers expect.

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
fn has_header_and_types_of_jmeter() {
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
fn run_without_request_log_is_an_error_with_advice() {
    let error = written(&[runs::empty()]).unwrap_err();
    assert!(matches!(error, ReportError::NoRequestLog { .. }));
    assert!(error.to_string().contains("--log-requests 1000"), "{error}");
}
