//! Upper bound of the memory of a run.

use crate::prepare::EngineLoad;

/// Parts of the memory bound, in bytes: the worst case of each part, regardless of the target's replies.
mod bound {
    /// State of a connection in this process.
    pub(super) const CONNECTION: u64 = 1024;
    /// Head of a reply that arrives in pieces. A growing buffer may own twice its contents.
    pub(super) const PARTIAL_HEAD: u64 = 2 * 64 * 1024;
    /// TLS session with an incomplete message.
    pub(super) const TLS: u64 = 2 * 300 * 1024;
    /// Set of histograms with every counter in use: 12 histograms of 33 chunks of 8 KiB, for warm-up and measurement.
    pub(super) const HISTOGRAMS: u64 = 2 * 12 * 33 * 8 * 1024;
    /// Read buffers and events of a thread.
    pub(super) const THREAD: u64 = 256 * 1024;
    /// Sets of histograms per thread and step: the current second, and one on its way to the store.
    pub(super) const SETS_PER_THREAD: u64 = 2;
    /// Sets of histograms per step in the collecting thread: the sum so far.
    pub(super) const SETS_OF_KEEPER: u64 = 1;
    /// Sets of histograms over all steps: the second that is shown, or the sum that is judged.
    pub(super) const SETS_OF_ALL_STEPS: u64 = 1;
    /// Request sampled for the log, now and on its way to the store.
    pub(super) const LOGGED: u64 = 4 * 128;
    /// Copies of the encoded requests: in the study, the plan, the script, and one in transit.
    pub(super) const COPIES_OF_REQUESTS: u64 = 4;
    /// Regular expression: its forward, backward, and one-pass programs.
    pub(super) const EXPRESSION: u64 = 3 * 1024 * 1024;
    /// Cache of a thread for matching one regular expression.
    pub(super) const EXPRESSION_PER_THREAD: u64 = 6 * 1024 * 1024;
    /// Program, cache of the store, and terminal.
    pub(super) const PROGRAM: u64 = 24 * 1024 * 1024;
}

impl EngineLoad {
    /// Upper bound of the memory of the run, in bytes. It applies to any length and any target, as long as the store writes each second
    /// within the next one.
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
        // Each user has one connection per peer.
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

    /// Length in bytes of the longest value that a data source gives to a variable.
    fn longest_bytes(&self, variable: u16) -> u64 {
        let fills =
            self.job.data.iter().flat_map(|data| data.fills.iter().map(move |fill| (&data.source, fill)));
        let of_variable = fills.filter(|(_, (filled, _))| *filled == variable);
        of_variable.map(|(source, (_, column))| source.longest_bytes(*column) as u64).max().unwrap_or(0)
    }
}
