//! Handler thread: executes the CPU work of one worker.

use crate::endpoints::Work;
use crate::gate::{Job, Slot};
use crate::mailbox::ReactorMessage;
use crate::request::Order;
use crate::shared::Shared;
use crate::worker::WorkerHandle;

/// Executes work until the gate closes.
pub(crate) fn run(shared: &Shared, desk: &WorkerHandle) {
    let mut next = None;
    while !shared.stop.is_set() {
        let Some((token, task)) = next.take().or_else(|| desk.gate.next_assigned()) else { return };
        shared.sit_out_stall(None);
        let reply = (task.run)(task.argument, &shared.stop);
        let following = desk.gate.release(Slot::Running);
        desk.mailbox.post(ReactorMessage::Done { token, reply });
        // Runs queued CPU work directly on this thread, without going through the reactor.
        match following {
            Some(Job { token, order: Order { work: Work::Compute(task), .. }, .. }) => {
                next = Some((token, task))
            }
            Some(job) => desk.mailbox.post(ReactorMessage::Start(job)),
            None => {}
        }
    }
}
