//! Equal distances.

/// Places 0, 1, 2, … in the flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Even {
    next: u64,
}

impl Even {
    pub(super) fn next_place(&mut self) -> f64 {
        let place = self.next;
        self.next += 1;
        place as f64
    }
}
