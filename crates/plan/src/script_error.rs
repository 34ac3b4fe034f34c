//! Turns errors of scripts into errors of a plan: the line, with a marker under the wrong part.

use std::fmt::Write as _;

use crate::error::StepProblem;
use crate::visible::{is_unseen, visible};

/// `number` is the number of the script.
pub(crate) fn problem(fault: &sql::script::Fault, number: usize) -> StepProblem {
    let mut what = visible(&fault.message);
    if let Some(command) = &fault.command {
        let _ = write!(what, " in command \"{}\"", visible(command));
    }
    if let Some(excerpt) = &fault.excerpt {
        // Invisible characters become spaces, so that the marker stays aligned.
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
    StepProblem::Script { number, line: fault.line, place, what }
}
