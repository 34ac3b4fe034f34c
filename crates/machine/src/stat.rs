//! CPU steal: time that the hypervisor gave to other machines, from `/proc/stat`.

/// Clock ticks of all cores since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    pub(crate) fn now() -> Option<Self> {
        Self::read(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the line `cpu  user nice system idle iowait irq softirq steal guest guest_nice`. Guest times are already included in
    /// user and nice.
    fn read(text: &str) -> Option<Self> {
        let line = text.lines().find(|line| line.starts_with("cpu "))?;
        let ticks: Option<Vec<u64>> =
            line.split_whitespace().skip(1).take(8).map(|word| word.parse().ok()).collect();
        let ticks = ticks.filter(|ticks| ticks.len() == 8)?;
        let all = ticks.iter().try_fold(0_u64, |all, ticks| all.checked_add(*ticks))?;
        Some(Self { all, stolen: *ticks.last()? })
    }

    /// Returns the share of stolen time since `before`, in percent. `None` if no tick has passed.
    pub(crate) fn stolen_percent_since(self, before: Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        Some(self.stolen.checked_sub(before.stolen)? as f64 * 100.0 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_share_is_parsed_and_invalid_text_rejected() {
        let before = Ticks::read("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1 2 3").unwrap();
        let after = Ticks::read("cpu  20 0 20 140 0 0 0 20 9 0\n").unwrap();
        assert_eq!(after.stolen_percent_since(before), Some(10.0));
        assert_eq!(before.stolen_percent_since(before), None);
        assert_eq!(before.stolen_percent_since(after), None);
        for text in
            ["", "cpu ", "cpu  1 2 3", "cpu  a b c d e f g h", "cpu  18446744073709551615 1 1 1 1 1 1 1"]
        {
            assert_eq!(Ticks::read(text), None, "{text}");
        }
    }
}
