//! The section `quick`: what is different when a quick run is asked for.

use super::tree::Node;

/// What a quick run changes.
pub(crate) struct Quick<'a> {
    pub(crate) node: &'a Node,
}

impl<'a> Quick<'a> {
    /// Other values for a system's parameters.
    pub(crate) fn vary(&self, system: &str) -> Option<&'a Node> {
        self.node.get("vary")?.get(system)
    }

    /// Other choices of a system's variants: `only` or `except`.
    pub(crate) fn choice(&self, system: &str, key: &str) -> Option<&'a Node> {
        self.node.get("systems")?.get(system)?.get(key)
    }
}
