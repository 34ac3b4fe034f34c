//! Waits for the condition that shows that an action took effect.

use std::thread;
use std::time::Duration;

use super::Sign;
use super::act::{ActionError, RunningAction};
use crate::deadline::Deadline;
use crate::ready::get;

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

impl RunningAction<'_> {
    /// Bytes that the process had written before the action; 0 if the sign is not a text.
    pub(super) fn bytes_before(&self, sign: &Sign) -> Result<u64, ActionError> {
        let Sign::Text { process, .. } = sign else { return Ok(0) };
        Ok(self.actors.find(process)?.kept.state().capture.seen_bytes())
    }

    pub(super) fn wait_for(&self, sign: &Sign, from_bytes: u64) -> Result<(), ActionError> {
        match sign {
            Sign::Text { process, text } => self.wait_for_text(process, text, from_bytes),
            Sign::Get { address, path } => self.retry(|| {
                let answer = get::attempt(*address, path, self.deadline, &|| self.is_over());
                answer.map_err(|why| format!("GET http://{address}{path} {why}"))
            }),
            Sign::Tcp(address) => self.retry(|| {
                let connected = get::connect(*address, self.deadline);
                connected.map(drop).map_err(|why| format!("a connection to {address} {why}"))
            }),
        }
    }

    fn wait_for_text(&self, process: &str, text: &str, from_bytes: u64) -> Result<(), ActionError> {
        let kept = &self.actors.find(process)?.kept;
        let mut searched = from_bytes;
        loop {
            {
                let state = kept.state();
                let seen = state.capture.seen_bytes();
                if seen != searched && state.capture.contains_since(text.as_bytes(), from_bytes) {
                    return Ok(());
                }
                searched = seen;
                if state.died().is_some() {
                    return Err(ActionError::of(format!("{process} ended before it wrote {text:?}")));
                }
            }
            if self.is_over() {
                return Err(ActionError::of(format!("{process} did not write {text:?}")));
            }
            let until = self.deadline.min(Deadline::after(PAUSE));
            kept.wait(until, |state| state.capture.seen_bytes() != searched || state.died().is_some());
        }
    }

    fn retry(&self, attempt: impl Fn() -> Result<(), String>) -> Result<(), ActionError> {
        loop {
            let Err(why) = attempt() else { return Ok(()) };
            if self.is_over() {
                return Err(ActionError::of(why));
            }
            thread::sleep(PAUSE);
        }
    }
}
