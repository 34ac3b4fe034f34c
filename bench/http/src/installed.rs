//! Locates the programs of a comparison, and reports how to install a missing one.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use harness::program::{self, on_path};

use crate::flags::Flags;
use crate::tools::{self, Program, Tool};

/// Paths of the programs that a comparison runs.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Server under load.
    pub(crate) nginx: PathBuf,
    /// `taskset`, which pins a program to a core.
    pub(crate) taskset: PathBuf,
    /// GNU time, which measures CPU time and memory of a program.
    pub(crate) time: PathBuf,
    /// `openssl`, which creates the certificate.
    pub(crate) openssl: PathBuf,
    tools: BTreeMap<&'static str, PathBuf>,
}

impl Installed {
    /// Finds the server, the tools, and the programs that start and measure them.
    ///
    /// # Errors
    ///
    /// If a required program is missing, or if the path in a flag is not a program. A load tester that is not installed is no
    /// error.
    pub(crate) fn look(flags: &Flags) -> anyhow::Result<Self> {
        let needed = |program: &str, package: &str| {
            on_path(program)
                .with_context(|| format!("{program} is not installed (apt-get install {package})"))
        };
        let mut found = BTreeMap::new();
        for tool in tools::TOOLS {
            if let Some(path) = find_tool(tool, flags)? {
                found.insert(tool.name, path);
            }
        }
        Ok(Self {
            nginx: needed("nginx", "nginx-light")?,
            taskset: needed("taskset", "util-linux")?,
            time: needed("time", "time")?,
            openssl: needed("openssl", "openssl")?,
            tools: found,
        })
    }

    /// Returns the path of a tool's program. `None` if it is not installed.
    pub(crate) fn program(&self, tool: &Tool) -> Option<&Path> {
        self.tools.get(tool.name).map(PathBuf::as_path)
    }
}

fn find_tool(tool: &Tool, flags: &Flags) -> anyhow::Result<Option<PathBuf>> {
    let given = |path: &Path| {
        let absolute = program::at(path);
        absolute.with_context(|| {
            format!("{} is not a program: look at the path that was given for {}", path.display(), tool.name)
        })
    };
    Ok(match tool.program {
        Program::ThisOne => Some(env::current_exe().context("cannot find this program itself")?),
        Program::Tenbin => program::at(&flags.tenbin),
        Program::Wrk2 => flags.wrk2.as_deref().map(given).transpose()?.or_else(|| on_path("wrk2")),
        Program::Zrk => flags.zrk.as_deref().map(given).transpose()?.or_else(|| on_path("zrk")),
        Program::OnPath(name) => on_path(name),
    })
}
