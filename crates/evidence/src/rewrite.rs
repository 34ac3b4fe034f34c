//! A loaded run whose texts are replaced, such as for a report that strangers read. The store keeps what it has.

use record::{Ledger, LedgerEntry};

use crate::monitored::Output;
use crate::reading::ReadingKey;
use crate::run::{Run, StoredSecond};

impl Run {
    /// Drops what events wrote, and rewrites what processes wrote, the subjects of readings, the names in its CPU profile, and the texts of gates and events, and, with
    /// functions of their own, the message of every error, and the label of every reading of a metric. Figures stay.
    pub fn rewrite(
        &mut self,
        text: &dyn Fn(&str) -> String,
        error: &dyn Fn(&LedgerEntry) -> String,
        label_of: &dyn Fn(&str, &str) -> String,
        output: &dyn Fn(&[u8]) -> Vec<u8>,
    ) {
        for StoredSecond { errors, .. } in &mut self.parts {
            let mut rewritten = Ledger::default();
            for entry in errors.entries() {
                rewritten.insert(LedgerEntry { message: error(entry), ..entry.clone() });
            }
            rewritten.add_others(errors.others());
            *errors = rewritten;
        }
        let monitored = &mut self.monitored;
        for Output { process, text: written, .. } in &mut monitored.outputs {
            (*process, *written) = (text(process), output(written));
        }
        monitored.outputs.retain(|output| !output.text.is_empty());
        for gate in &mut monitored.gates {
            gate.text = text(&gate.text);
            gate.step = gate.step.as_deref().map(text);
        }
        for event in &mut monitored.events {
            (event.name, event.action) = (text(&event.name), text(&event.action));
            event.failure = event.failure.as_deref().map(text);
            event.output.clear();
        }
        for cost in &mut monitored.event_costs {
            cost.name = text(&cost.name);
        }
        for frame in monitored.cpu_profile.iter_mut().flat_map(|profile| &mut profile.frames) {
            // A script is called by its path.
            (frame.name, frame.module) = (text(&frame.name), text(&frame.module));
        }
        for ReadingKey { subject, metric, label } in monitored.readings.kinds_mut() {
            (*subject, *label) = (text(subject), label_of(metric, label));
        }
    }
}
