//! Thread-switch trials: two threads pass a byte back and forth through two pipes.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::thread;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::figure::Findings;
use crate::site::Site;
use crate::stopwatch::per_s;

/// Number of round trips between two clock reads.
const BATCH: u32 = 16;

/// Measures switches on one core, and between two cores.
pub(crate) fn measure(site: &Site<'_>, findings: &mut Findings) {
    measure_same_core(site, findings);
    let other = allowed().and_then(|cores| match cores.as_slice() {
        [first, .., last] => site.repeat(|| half_round_trip_us(site, *first, *last)),
        _ => Err("this process may use one core only".to_owned()),
    });
    findings.note("switch_other_core", other);
}

/// Measures switches on one core.
pub(crate) fn measure_same_core(site: &Site<'_>, findings: &mut Findings) {
    let same = allowed().and_then(|cores| {
        let core = *cores.first().ok_or("this process may use no core")?;
        site.repeat(|| half_round_trip_us(site, core, core))
    });
    findings.note("switch_same_core", same);
}

/// Returns the cores that this process may use.
fn allowed() -> Result<Vec<usize>, String> {
    let set = sched_getaffinity(None).map_err(|errno| errno.to_string())?;
    Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

fn half_round_trip_us(site: &Site<'_>, here: usize, there: usize) -> Result<f64, String> {
    let with_message = |error: io::Error| error.to_string();
    let (answers, answer) = io::pipe().map_err(with_message)?;
    let (questions, question) = io::pipe().map_err(with_message)?;
    thread::scope(|scope| {
        let echo = scope.spawn(move || pin(there).and_then(|()| pong(questions, answer)));
        let ping = scope.spawn(move || pin(here).and_then(|()| ping(site, answers, question)));
        let per_s = ping.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")));
        drop(echo.join());
        per_s.map(|per_s| 0.5e6 / per_s).map_err(with_message)
    })
}

/// Pins this thread to a core.
fn pin(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Measures round trips per second. The question pipe closes on return, which ends the other thread.
fn ping(site: &Site<'_>, mut answers: PipeReader, mut question: PipeWriter) -> io::Result<f64> {
    let (mut byte, mut result) = ([1], Ok(()));
    let per_s = per_s(site.effort.slice, BATCH, || {
        if result.is_ok() {
            result = question.write_all(&byte).and_then(|()| answers.read_exact(&mut byte));
        }
    });
    result.map(|()| per_s)
}

fn pong(mut questions: PipeReader, mut answer: PipeWriter) -> io::Result<()> {
    let mut byte = [0];
    while questions.read(&mut byte)? == 1 {
        answer.write_all(&byte)?;
    }
    Ok(())
}
