//! Tests that a process that floods its output is not blocked, and that only a part of the output is stored.

use crate::support::{self, Bench, text};
use lab::When;

const KEPT_BYTES_MAX: usize = 256 << 10;

#[test]
fn flood_of_output_is_stored_in_part_without_blocking() {
    let bench = Bench::new();
    // The output is far larger than any pipe, so the script ends only if the output is read.
    let script = "echo first; yes | head -c 200000000; echo last; touch written; exec sleep 60";
    let mut process = bench.process("p", bench.sh(script), When::Command(bench.sh("test -f written")));
    process.ready.within = support::LONG;
    let mut system = lab::start(bench.recipe(vec![process]), &|| false).expect("started");
    assert_eq!(system.died(), None);
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    bench.assert_clean();
    let output = &stopped.outputs[0];
    assert!(output.text.len() <= KEPT_BYTES_MAX, "{}", output.text.len());
    assert_eq!(output.text.len() as u64 + output.dropped_bytes, 200_000_000 + 11);
    let text = text(&stopped.outputs, "p");
    assert!(text.starts_with("first\ny\n") && text.ends_with("y\nlast\n"), "{}", &text[text.len() - 50..]);
}

#[test]
fn endless_flood_of_output_can_be_stopped() {
    let bench = Bench::new();
    let command = bench.sh("echo ready; yes; true");
    let process = bench.process("p", command, When::Log("ready".to_owned()));
    let system = lab::start(bench.recipe(vec![process]), &|| false).expect("started");
    std::thread::sleep(support::SHORT);
    let stopped = system.stop();
    assert_eq!(stopped.failures, []);
    bench.assert_clean();
    assert!(text(&stopped.outputs, "p").starts_with("ready\ny\n"));
    assert!(stopped.outputs[0].dropped_bytes > 0);
}

#[test]
fn end_of_main_process_is_reported_during_a_flood_of_output() {
    let bench = Bench::new();
    let process = bench.script("p", "yes & exit 3");
    let mut system = match lab::start(bench.recipe(vec![process]), &|| false) {
        Ok(system) => system,
        Err(failure) => return assert!(failure.what.contains("exited with code 3"), "{failure}"),
    };
    let mut failure = None;
    for _ in 0..200 {
        failure = failure.or_else(|| system.died());
        std::thread::sleep(std::time::Duration::from_millis(10));
        if failure.is_some() {
            break;
        }
    }
    assert!(failure.is_some_and(|failure| failure.what.contains("exited with code 3")));
    system.stop();
    bench.assert_clean();
}
