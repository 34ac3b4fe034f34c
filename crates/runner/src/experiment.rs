//! What a run of an experiment changes, from the store to the plan.

use plan::{Change, Limits, Study};
use store::Intervention;

/// The study of such a run, of this variant and load.
pub(crate) fn study(study: &Study, (variant, load): (usize, usize), of: &Intervention) -> Study {
    let change = match of {
        Intervention::Control { .. } | Intervention::ControlAgain => None,
        Intervention::Changed(changed) => Some(change(&changed.change)),
    };
    study.changed(variant, load, change.as_ref())
}

fn change(kept: &store::Change) -> Change {
    match kept {
        store::Change::Users { users } => Change::Users(*users),
        store::Change::Threads { threads } => Change::Threads(*threads),
        store::Change::GeneratorCores { cores } => Change::GeneratorCores(cores.clone()),
        store::Change::Io { limits } => Change::Io(Limits {
            read_bytes_per_s: limits.read_bytes_per_s,
            write_bytes_per_s: limits.write_bytes_per_s,
            reads_per_s: limits.reads_per_s,
            writes_per_s: limits.writes_per_s,
            ..Limits::default()
        }),
        store::Change::Cpu { millicores } => Change::CpuMillicores(*millicores),
        store::Change::Delay { proxy, delay_us } => {
            Change::Delay { proxy: proxy.clone(), delay_us: *delay_us }
        }
        store::Change::Parameter { name, value } => {
            Change::Parameter { name: name.clone(), value: value.clone() }
        }
    }
}
