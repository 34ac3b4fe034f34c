//! The memory that a run takes at most.

use crate::prepare::EngineLoad;

/// The parts of a memory bound, in bytes. Each is what its owner may take at worst, whatever the target sends.
mod bound {
    /// A connection's own state, the kernel's not included.
    pub(super) const CONNECTION: u64 = 1024;
    /// A reply's head that comes in pieces. What grows as it comes may own twice what it holds.
    pub(super) const PARTIAL_HEAD: u64 = 2 * 64 * 1024;
    /// A TLS session with an incomplete message.
    pub(super) const TLS: u64 = 2 * 300 * 1024;
    /// One set of histograms with every counter in use: 12 of 33 chunks of 8 KiB, for warm-up and measurement.
    pub(super) const HISTOGRAMS: u64 = 2 * 12 * 33 * 8 * 1024;
    /// Read buffers and events of a thread.
    pub(super) const THREAD: u64 = 256 * 1024;
    /// Sets of histograms per thread and step: the second that is counted, and one on its way to the store.
    pub(super) const SETS_PER_THREAD: u64 = 2;
    /// Sets per step in the thread that keeps results: the sum so far.
    pub(super) const SETS_OF_KEEPER: u64 = 1;
    /// Sets of all steps together: the second that is shown, or the sum that is judged.
    pub(super) const SETS_OF_ALL_STEPS: u64 = 1;
    /// A request kept for a log, now and on its way to the store.
    pub(super) const LOGGED: u64 = 4 * 128;
    /// Requests as they are sent: those of the study, of the plan and of the script, and one on its way between them.
    pub(super) const COPIES_OF_REQUESTS: u64 = 4;
    /// A regular expression: its program, forwards, backwards and in one pass.
    pub(super) const EXPRESSION: u64 = 3 * 1024 * 1024;
    /// What a thread keeps of an expression while it looks for matches.
    pub(super) const EXPRESSION_PER_THREAD: u64 = 6 * 1024 * 1024;
    /// The program, the store's cache, the terminal.
    pub(super) const PROGRAM: u64 = 24 * 1024 * 1024;
}

impl EngineLoad {
    /// More memory than this the run does not take, however long it lasts and whatever the target sends, as long as the
    /// store takes in each second within the next one; in bytes.
    pub(crate) fn memory_bound_bytes(&self) -> u64 {
        let (connections, threads) = (u64::from(self.job.connections()), u64::from(self.job.threads));
        let addresses = self.script.address_accounts(&self.job);
        let steps = self.job.scenarios.steps() as u64 + u64::from(self.job.parts) + addresses as u64;
        let footprint = self.script.footprint(|variable| self.longest_bytes(variable));
        let sessions = self.job.peers.iter().filter(|peer| peer.tls.is_some()).count() as u64;
        let sealed = match sessions {
            0 => 0,
            _ => footprint.request_bytes.saturating_add(bound::TLS).saturating_mul(sessions),
        };
        // A user has a connection to each peer.
        let peers = self.job.peers.len().max(1) as u64;
        let of_peers = [bound::CONNECTION, bound::PARTIAL_HEAD].map(|bytes| bytes.saturating_mul(peers));
        let per_connection =
            [of_peers[0], of_peers[1], footprint.kept_bytes, sealed].into_iter().fold(0, u64::saturating_add);
        let sets =
            steps * (threads * bound::SETS_PER_THREAD + bound::SETS_OF_KEEPER) + bound::SETS_OF_ALL_STEPS;
        [
            connections.saturating_mul(per_connection),
            threads * bound::THREAD,
            sets * bound::HISTOGRAMS,
            steps * u64::from(self.job.log_per_second) * bound::LOGGED,
            footprint.expressions * (bound::EXPRESSION + threads * bound::EXPRESSION_PER_THREAD),
            footprint.shared_bytes.saturating_mul(bound::COPIES_OF_REQUESTS),
            self.job.data.iter().map(|data| data.source.kept_bytes() as u64).sum(),
            self.job.load.kept_bytes(),
            bound::PROGRAM,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Bytes of the longest value that a source of data gives to a variable.
    fn longest_bytes(&self, variable: u16) -> u64 {
        let fills =
            self.job.data.iter().flat_map(|data| data.fills.iter().map(move |fill| (&data.source, fill)));
        let of_variable = fills.filter(|(_, (filled, _))| *filled == variable);
        of_variable.map(|(source, (_, column))| source.longest_bytes(*column) as u64).max().unwrap_or(0)
    }
}
