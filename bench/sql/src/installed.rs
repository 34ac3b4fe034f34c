//! Where the programs are, and how to get those that are missing.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use harness::program::{self, on_path};

use crate::tools;

/// Every program that takes part.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) taskset: PathBuf,
    pub(crate) time: PathBuf,
    tools: Vec<(&'static str, PathBuf)>,
}

impl Installed {
    /// Looks for all of them.
    ///
    /// # Errors
    ///
    /// The first that is missing, and how to get it.
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

    /// A tool's program.
    ///
    /// # Errors
    ///
    /// There is no such tool.
    pub(crate) fn program(&self, tool: &str) -> Result<&Path, String> {
        let found = self.tools.iter().find(|(name, _)| *name == tool);
        found.map(|(_, path)| path.as_path()).ok_or_else(|| format!("{tool} is not one of the tools"))
    }
}
