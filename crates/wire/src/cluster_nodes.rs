//! Nodes of a cluster as a server reports them before a load.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Nodes of a cluster, and the slots that they serve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterNodes {
    /// `HOST:PORT` of each node, as the cluster names it in redirections.
    pub addresses: Vec<String>,
    /// Ranges of slots, each with the index of the node that serves it.
    pub slots: Vec<(RangeInclusive<u16>, u16)>,
}
