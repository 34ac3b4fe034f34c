//! Events that change the limits of a system or the proxies on its links.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::act::{ActionError, RunningAction};
use super::{EffectDuration, LinkOrder};
use crate::deadline::Deadline;
use crate::limits::Limits;

/// Interval of checks whether the load has ended.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Timeout for the answer of a proxy. A proxy answers at once unless the machine is busy.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Max length of an answer.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

impl RunningAction<'_> {
    pub(super) fn limit(&self, limits: &Limits, lasting: EffectDuration) -> Result<(), ActionError> {
        let groups = &self.actors.limits;
        groups.change(limits).map_err(ActionError::of)?;
        let ended = self.wait_for_duration(lasting);
        let put_back = lasting.map_or(Ok(()), |_| groups.put_back().map_err(ActionError::of));
        ended.and(put_back)
    }

    pub(super) fn order(&self, link: &LinkOrder, lasting: EffectDuration) -> Result<(), ActionError> {
        let send_to_proxy = |order: &str| {
            send_to_proxy(&link.control, order)
                .map_err(|why| ActionError::of(format!("the proxy {} {why}", link.name)))
        };
        send_to_proxy(&link.order)?;
        let ended = self.wait_for_duration(lasting);
        // A temporary order is reverted even if the load has ended. A permanent one is not.
        let undone = lasting.and(link.undo.as_deref()).map_or(Ok(()), send_to_proxy);
        ended.and(undone)
    }

    /// Waits for the given duration. Returns at once without one.
    fn wait_for_duration(&self, lasting: EffectDuration) -> Result<(), ActionError> {
        let Some(lasting) = lasting else { return Ok(()) };
        let until = Deadline::after(lasting);
        while !until.is_over() {
            if self.is_over() {
                return Err(ActionError::of("it was put back early"));
            }
            thread::sleep(until.left().min(CHECK_INTERVAL));
        }
        Ok(())
    }
}

/// Sends an order to a proxy. The error is the end of a sentence.
fn send_to_proxy(control: &Path, order: &str) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("takes no orders: {error}");
    let mut stream = UnixStream::connect(control).map_err(cannot)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT)).map_err(cannot)?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT)).map_err(cannot)?;
    stream.write_all(format!("{order}\n").as_bytes()).map_err(cannot)?;
    let mut line = String::new();
    BufReader::new(stream.take(ANSWER_BYTES_MAX)).read_line(&mut line).map_err(cannot)?;
    let answer: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
    match (answer["ok"].as_bool(), answer["error"].as_str()) {
        (Some(true), _) => Ok(()),
        (_, Some(error)) => Err(format!("refused the order: {error}")),
        _ => Err("did not answer".to_owned()),
    }
}
