//! Thread that starts all servers. The kernel kills a server when the thread that started it ends, and each test is a thread.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

/// Command to start, and the channel that returns its process.
type Order = (Command, SyncSender<io::Result<Child>>);

static KEEPER: LazyLock<Mutex<Sender<Order>>> = LazyLock::new(|| {
    let (sender, orders) = channel::<Order>();
    thread::spawn(move || {
        for (mut command, answer) in orders {
            // Kills the process if the caller has ended.
            if let Err(unwanted) = answer.send(command.spawn()) {
                let _ = unwanted.0.map(|mut child| child.kill().and_then(|()| child.wait()));
            }
        }
    });
    Mutex::new(sender)
});

/// Starts a process that lives as long as this process instead of the calling thread.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    let (answer, process) = sync_channel(1);
    let gone = || io::Error::other("the thread that starts servers has ended");
    KEEPER.lock().unwrap_or_else(PoisonError::into_inner).send((command, answer)).map_err(|_| gone())?;
    process.recv().map_err(|_| gone())?
}
