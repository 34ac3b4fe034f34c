//! Replaces the texts of a loaded run, for a report that is published. The store keeps the originals.

use record::{Ledger, LedgerEntry};

use crate::monitored::Output;
use crate::reading::ReadingKey;
use crate::run::{Run, StoredSecond};

impl Run {
    /// Rewrites the texts of the run, and leaves its figures.
    ///
    /// `text` rewrites subjects of readings, names in the CPU profile, and texts of gates and events. `output` rewrites the output
    /// of processes, `error` the message of every error, and `label_of` the label of every reading of a metric. The output of
    /// events is dropped.
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
            // The name of a script is its path, so it is rewritten, too.
            (frame.name, frame.module) = (text(&frame.name), text(&frame.module));
        }
        for ReadingKey { subject, metric, label } in monitored.readings.kinds_mut() {
            (*subject, *label) = (text(subject), label_of(metric, label));
        }
    }
}
