//! Changes that an intervention makes to the study and to the limits of its system.

use evidence::Intervention;
use lab::limits::{DiskLimits, Limits as LabLimits};
use plan::{Change, Limits, Study};

/// Changes the study for one run of an experiment, for this variant and load.
pub(crate) fn study(study: &Study, (variant, load): (usize, usize), of: &Intervention) -> Study {
    let change = match of {
        Intervention::Control { .. }
        | Intervention::ControlAgain
        | Intervention::ControlRestarted
        | Intervention::Instrumented => None,
        Intervention::Changed(changed) => Some(change(&changed.change)),
        Intervention::Users { users, .. } => Some(Change::Users(*users)),
    };
    study.changed(variant, load, change.as_ref())
}

/// Limits of the system during one run of an experiment. Limits that are not set stay as in the plan.
pub(crate) fn limits(of: &Intervention) -> LabLimits {
    let Intervention::Changed(changed) = of else { return LabLimits::default() };
    match &changed.change {
        evidence::Change::Cpu { millicores } => {
            LabLimits { cpu_cores: Some(*millicores as f64 / 1e3), ..LabLimits::default() }
        }
        evidence::Change::Io { limits } => {
            let disk = DiskLimits {
                read_bytes_per_s: limits.read_bytes_per_s,
                write_bytes_per_s: limits.write_bytes_per_s,
                reads_per_s: limits.reads_per_s,
                writes_per_s: limits.writes_per_s,
            };
            LabLimits { disk, ..LabLimits::default() }
        }
        _ => LabLimits::default(),
    }
}

/// Limits that an experiment may set while a system runs. Their control groups must exist from its start.
pub(crate) fn limits_to_come(study: &Study) -> Vec<LabLimits> {
    let can = study.experiment.as_ref().map_or([false; 2], |asked| [asked.can_limit_cpu, asked.can_limit_io]);
    let disk = DiskLimits { read_bytes_per_s: Some(1 << 40), ..DiskLimits::default() };
    let all = [
        LabLimits { cpu_cores: Some(1.0), ..LabLimits::default() },
        LabLimits { disk, ..LabLimits::default() },
    ];
    all.into_iter().zip(can).filter(|(_, can)| *can).map(|(limits, _)| limits).collect()
}

fn change(kept: &evidence::Change) -> Change {
    match kept {
        evidence::Change::Users { users } => Change::Users(*users),
        evidence::Change::Threads { threads } => Change::Threads(*threads),
        evidence::Change::GeneratorCores { cores } => Change::GeneratorCores(cores.clone()),
        evidence::Change::Io { limits } => Change::Io(Limits {
            read_bytes_per_s: limits.read_bytes_per_s,
            write_bytes_per_s: limits.write_bytes_per_s,
            reads_per_s: limits.reads_per_s,
            writes_per_s: limits.writes_per_s,
            ..Limits::default()
        }),
        evidence::Change::Cpu { millicores } => Change::CpuMillicores(*millicores),
        evidence::Change::Delay { proxy, delay_us } => {
            Change::Delay { proxy: proxy.clone(), delay_us: *delay_us }
        }
        evidence::Change::Parameter { name, value } => {
            Change::Parameter { name: name.clone(), value: value.clone() }
        }
    }
}
