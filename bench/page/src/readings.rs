//! Creates synthetic probe readings for each second of a load.

use evidence::Reading;

use crate::chance::Chance;

/// Resource use of the system on its machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// Number of cores of the machine.
    pub(crate) cores: u32,
    /// Number of cores that the system keeps busy.
    pub(crate) system_cores: f64,
    /// Resident memory of the system at the start, in bytes.
    pub(crate) rss_bytes: f64,
    /// Growth of the resident memory, in bytes per second.
    pub(crate) leak_bytes: f64,
}

/// Metrics of system and generator that grow with CPU time, each with its amount per second of CPU time.
const GROWING: [(&str, f64); 5] = [
    ("switches_voluntary", 4_000.0),
    ("switches_involuntary", 300.0),
    ("run_queue_wait_s", 0.2),
    ("disk_read_bytes", 0.0),
    ("disk_written_bytes", 65_536.0),
];

/// Returns all readings of one second.
pub(crate) fn of(used: &Use, second: u64, chance: &mut Chance) -> Vec<Reading> {
    let mut readings = Vec::new();
    let mut add = |subject: &str, metric: &str, label: &str, value: f64| {
        readings.push(fixtures::reading(subject, metric, label, value));
    };
    let mut busy_s = 0.0;
    let rss_bytes = used.rss_bytes + used.leak_bytes * second as f64;
    for (subject, cores, rss_bytes) in [("system", used.system_cores, rss_bytes), ("generator", 0.3, 24e6)] {
        let of_subject_s = ticks((cores * (1.0 + 0.05 * chance.normal())).max(0.0));
        busy_s += of_subject_s;
        add(subject, "cpu_user_s", "", ticks(of_subject_s * 0.7));
        add(subject, "cpu_sys_s", "", ticks(of_subject_s * 0.3));
        for (metric, each) in GROWING {
            let amount = of_subject_s * each * (1.0 + 0.1 * chance.normal()).max(0.0);
            add(subject, metric, "", if metric.ends_with("_s") { amount } else { amount.round() });
        }
        let pages = (rss_bytes * (1.0 + 0.002 * chance.normal()) / 4_096.0).round();
        add(subject, "rss_bytes", "", pages * 4_096.0);
        add(subject, "threads", "", 9.0);
        add(subject, "open_files", "", 131.0);
        add(subject, "swap_bytes", "", 0.0);
    }
    let waiting = (chance.share() * 12.0 - 8.0).max(0.0).round();
    add("system", "listen_queue", "8080", waiting);
    for core in 0..used.cores {
        let share = (busy_s / f64::from(used.cores) * (1.0 + 0.15 * chance.normal())).clamp(0.0, 1.0);
        let label = format!("core{core}");
        add("machine", "cpu_user_s", &label, ticks(share * 0.7));
        add("machine", "cpu_sys_s", &label, ticks(share * 0.3));
        add("machine", "cpu_idle_s", &label, 1.0 - ticks(share * 0.7) - ticks(share * 0.3));
        add("machine", "iowait_s", &label, 0.0);
        add("machine", "steal_s", &label, if chance.share() < 0.05 { 0.01 } else { 0.0 });
    }
    add(
        "machine",
        "disk_written_bytes",
        "vda",
        (chance.log_normal(80_000.0, 0.8) / 4_096.0).round() * 4_096.0,
    );
    add("machine", "net_received_bytes", "eth0", chance.log_normal(2_000.0, 1.0).round());
    add("machine", "net_sent_bytes", "eth0", chance.log_normal(1_500.0, 1.0).round());
    add("machine", "memory_available_bytes", "", 3e9);
    add("machine", "pressure_cpu_some_share", "", (0.2 * chance.share() * used.system_cores).min(1.0));
    add("machine", "pressure_io_some_share", "", 0.01 * chance.share());
    readings
}

/// Rounds a time to hundredths of a second, the resolution of the kernel's CPU times.
fn ticks(time_s: f64) -> f64 {
    (time_s * 100.0).round() / 100.0
}
