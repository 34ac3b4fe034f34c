//! Creates a workload's tables and fills them, over several connections at once.
