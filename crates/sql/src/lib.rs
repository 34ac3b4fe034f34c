//! SQL transactions over a wire: scripts and built-in workloads as conversations with a server.
