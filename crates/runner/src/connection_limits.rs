//! Number of connections that this machine allows, where it is lower than what a load may open as needed.

use std::path::Path;

use engine::limits::connections_max;
use plan::Study;

use crate::preflight::example_launch;
use crate::prepare::peer_count;
use crate::threads::{GeneratorThreads, is_named_here};

/// Formats one line for each load that may open fewer connections on this machine than its plan sets. `tenbin` is the path of this program.
pub fn connection_limits(study: &Study, tenbin: &Path) -> Vec<String> {
    let Some(launch) = example_launch(study, tenbin) else { return Vec::new() };
    let limit = |(number, load): (usize, &plan::StudyLoad)| {
        let plan = study.plan(number, &launch).ok()?;
        let of_plan = u64::from(plan.grows_to?);
        let threads = GeneratorThreads::choose(&plan, &[], is_named_here(&plan)).count;
        let (max, by) = connections_max(threads.into(), peer_count(&plan), launch.socket.is_none());
        (max < of_plan).then(|| {
            format!("{}: at most {max} connections on this machine ({by}), of the {of_plan} that the load may open", load.name)
        })
    };
    study.loads.iter().enumerate().filter_map(limit).collect()
}
