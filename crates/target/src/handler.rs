//! Handler thread: executes the CPU work of one worker.

use crate::endpoints::Work;
use crate::gate::{Job, Slot};
use crate::mailbox::ReactorMessage;
use crate::request::ParsedRequest;
use crate::shared::Shared;
use crate::worker::WorkerHandle;

/// Executes work until the gate closes.
pub(crate) fn run(shared: &Shared, worker_handle: &WorkerHandle) {
    let mut next = None;
    while !shared.stop.is_set() {
        let Some((token, task)) = next.take().or_else(|| worker_handle.gate.next_assigned()) else { return };
        shared.sleep_through_stall(None);
        let reply = (task.run)(task.argument, &shared.stop);
        let following = worker_handle.gate.release(Slot::Running);
        worker_handle.mailbox.post(ReactorMessage::Done { token, reply });
        // Runs queued CPU work directly on this thread, without going through the reactor.
        match following {
            Some(Job { token, parsed_request: ParsedRequest { work: Work::Compute(task), .. }, .. }) => {
                next = Some((token, task))
            }
            Some(job) => worker_handle.mailbox.post(ReactorMessage::Start(job)),
            None => {}
        }
    }
}
