//! Faults of scripts as faults of a plan: the line, and a mark under what is wrong.

use std::fmt::Write as _;

use crate::fault::Fault;
use crate::visible::{is_unseen, visible};

pub(crate) fn told(fault: &script::Fault) -> Fault {
    let mut what = visible(&fault.message);
    if let Some(command) = &fault.command {
        let _ = write!(what, " in command \"{}\"", visible(command));
    }
    if let Some(excerpt) = &fault.excerpt {
        // Signs that nobody sees are spaces: the mark stays under what it marks.
        for line in excerpt.lines() {
            let line: String = line.chars().map(|sign| if is_unseen(sign) { ' ' } else { sign }).collect();
            let _ = write!(what, "\n    {line}");
        }
        if let Some(mark) = fault.mark {
            let last = excerpt.lines().last().unwrap_or_default();
            let before = last.get(..mark as usize).map_or(mark as usize, |before| before.chars().count());
            let _ = write!(what, "\n    {:before$}^ error found here", "");
        }
    }
    let column = fault.column.map_or(String::new(), |column| format!(":{column}"));
    let place = format!("{}:{}{column}", visible(&fault.script), fault.line);
    Fault::new(place, what, "correct the script")
}
