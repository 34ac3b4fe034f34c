//! Locates the programs of a comparison, and reports how to install a missing one.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use harness::program::{self, on_path};

use crate::tools;

/// Paths of all programs that a comparison runs.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) taskset: PathBuf,
    pub(crate) time: PathBuf,
    tools: Vec<(&'static str, PathBuf)>,
}

impl Installed {
    /// Finds every program: Tenbin at the path `tenbin`, all others on the `PATH`.
    ///
    /// # Errors
    ///
    /// If a program is missing. The message says how to install it.
    pub(crate) fn look(tenbin: &Path) -> anyhow::Result<Self> {
        let needed = |program: &str, package: &str| {
            on_path(program).with_context(|| format!("{program} is not installed ({package})"))
        };
        let mut found = Vec::new();
        for tool in tools::TOOLS {
            let path = if tool.name == tools::OURS {
                let path = program::at(tenbin);
                path.with_context(|| format!("{} is not a program ({})", tenbin.display(), tool.how_to_get))?
            } else {
                needed(tool.name, tool.how_to_get)?
            };
            found.push((tool.name, path));
        }
        Ok(Self {
            taskset: needed("taskset", "apt-get install util-linux")?,
            time: needed("time", "apt-get install time")?,
            tools: found,
        })
    }

    /// Returns the path of a tool's program.
    ///
    /// # Errors
    ///
    /// If no tool has this name.
    pub(crate) fn program(&self, tool: &str) -> Result<&Path, String> {
        let found = self.tools.iter().find(|(name, _)| *name == tool);
        found.map(|(_, path)| path.as_path()).ok_or_else(|| format!("{tool} is not one of the tools"))
    }
}
