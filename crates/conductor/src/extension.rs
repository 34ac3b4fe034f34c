//! A load that goes on until it is steady: at each of its ends its course so far is judged.

use plan::Plan;
use record::Pulses;
use store::SteadinessVerdict;

use crate::steadiness;

/// The ends of a load that may go on. At the last one it ends by itself.
pub(crate) struct Extension<'a> {
    plan: &'a Plan,
    threads: u32,
    /// The next end, and how far apart they are.
    next_ns: u64,
    each_ns: u64,
    /// How often it went on.
    pub(crate) extended: u32,
    /// Whether it was steady at an end, and goes on no more.
    pub(crate) is_settled: bool,
}

impl<'a> Extension<'a> {
    /// `None` if the load has but one end. `threads` tell of its course.
    pub(crate) fn of(plan: &'a Plan, threads: u32) -> Option<Self> {
        let next_ns = plan.first_end_ns()?;
        let each_ns = next_ns.saturating_sub(plan.warm_up_ns).max(1);
        Some(Self { plan, threads, next_ns, each_ns, extended: 0, is_settled: false })
    }

    /// Looks at the course so far, if an end has come since the last look.
    pub(crate) fn look(&mut self, elapsed_ns: u64, pulses: &Pulses) {
        // Before the first window comes, connections are being opened.
        let has_begun = !pulses.windows().is_empty();
        while has_begun && !self.is_settled && self.extended < self.plan.extend && elapsed_ns >= self.next_ns
        {
            let found = steadiness::judge(self.plan, pulses, self.threads);
            self.is_settled = found.is_none_or(|found| {
                // What settled late stays in the figures, however long they become.
                matches!(found.verdict, SteadinessVerdict::Steady | SteadinessVerdict::WarmingUp)
            });
            if !self.is_settled {
                self.extended += 1;
                self.next_ns = self.next_ns.saturating_add(self.each_ns);
            }
        }
    }
}
