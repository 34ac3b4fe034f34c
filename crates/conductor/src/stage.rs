//! A system that can be started, and the load that it is to bear.

use std::path::{Path, PathBuf};

use lab::System;
use lab::probes::Subject;
use plan::{Around, Launch, Pin, Plan, Study};
use tempfile::TempDir;

use crate::cores::Cores;
use crate::one_run::RunError;
use crate::{recipe, scratch};

/// One variant with everything filled in. Its folder goes when it is dropped.
pub(crate) struct Stage {
    pub(crate) launch: Launch,
    pub(crate) plan: Plan,
    ports: Vec<u16>,
    folder: TempDir,
    cores: Vec<usize>,
    tenbin: PathBuf,
}

impl Stage {
    /// Finds ports, makes a folder, and fills in every text.
    pub(crate) fn set(
        study: &Study,
        variant: usize,
        load: usize,
        tenbin: &Path,
        cores: &Cores,
    ) -> Result<Self, RunError> {
        let names = study.ports(variant);
        let ports = lab::ports::free(names.len()).map_err(|error| RunError::Ports(error.to_string()))?;
        let folder = scratch::folder().map_err(RunError::Folder)?;
        let named: Vec<(String, u16)> = names.into_iter().zip(ports.iter().copied()).collect();
        let launch = study.launch(variant, &Around { ports: &named, dir: folder.path(), tenbin });
        let mut plan = study.plan(load, &launch).map_err(RunError::Plan)?;
        if !cores.generator.is_empty() {
            plan.pin = Pin::Cores(cores.generator.clone());
        }
        Ok(Self { launch, plan, ports, folder, cores: cores.system.clone(), tenbin: tenbin.to_path_buf() })
    }

    pub(crate) fn recipe(&self) -> lab::Recipe {
        recipe::recipe(&self.launch, self.folder.path(), &self.ports, &self.cores, &self.tenbin)
    }

    /// What probes are to look at.
    pub(crate) fn subject(&self, system: &System) -> Subject {
        let roots = system.roots().into_iter().map(|root| (root.name, root.keeper_pid));
        Subject {
            roots: roots.collect(),
            ports: self.ports.clone(),
            unix_sockets: self.launch.socket.iter().cloned().collect(),
        }
    }

    /// The first line that the version command writes, if there is one and it works.
    pub(crate) fn version(&self) -> Option<String> {
        let command = recipe::version(self.launch.version.as_ref()?);
        lab::first_line(&command, &recipe::keeper(&self.tenbin))
    }
}
