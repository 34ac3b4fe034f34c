//! Where the programs are, and how to get those that are missing.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use harness::program::{self, on_path};

use crate::flags::Flags;
use crate::tools::{self, Program, Tool};

/// The programs of one comparison.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The server.
    pub(crate) nginx: PathBuf,
    /// Keeps a program on a core.
    pub(crate) taskset: PathBuf,
    /// GNU time: CPU and memory of a program.
    pub(crate) time: PathBuf,
    /// Makes the certificate.
    pub(crate) openssl: PathBuf,
    tools: BTreeMap<&'static str, PathBuf>,
}

impl Installed {
    /// Looks for everything.
    ///
    /// # Errors
    ///
    /// What the comparison cannot do without is missing; a path that was given is not a program. Tools that are merely
    /// not installed are no error.
    pub(crate) fn look(flags: &Flags) -> anyhow::Result<Self> {
        let needed = |program: &str, package: &str| {
            on_path(program)
                .with_context(|| format!("{program} is not installed (apt-get install {package})"))
        };
        let mut found = BTreeMap::new();
        for tool in tools::TOOLS {
            if let Some(path) = look_for(tool, flags)? {
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

    /// The program of a tool, if it is there.
    pub(crate) fn program(&self, tool: &Tool) -> Option<&Path> {
        self.tools.get(tool.name).map(PathBuf::as_path)
    }
}

fn look_for(tool: &Tool, flags: &Flags) -> anyhow::Result<Option<PathBuf>> {
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
