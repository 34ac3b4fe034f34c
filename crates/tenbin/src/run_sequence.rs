//! Makes the runs of a study on this machine, and shows them on a terminal.

use std::time::Instant;

use evidence::StudyPlace;
use progress::{RemainingStudy, RunEvent, Stream};
use runner::{RunError, StudyRunner, Tools};
use study::{Draws, RunMaker, RunStudyError, StudyError};

use crate::study_line::StudyLine;

/// Runs the planned runs one after another.
pub(crate) struct RunSequence<'a> {
    pub(crate) bench: StudyRunner<'a>,
    pub(crate) tools: Tools<'a>,
    pub(crate) stream: &'a Stream,
    pub(crate) line: StudyLine<'a>,
}

impl RunMaker for RunSequence<'_> {
    type Error = RunError;

    fn make(&mut self, place: &StudyPlace, draws: &Draws, ahead: &RemainingStudy) -> Result<(), RunError> {
        self.line.show_run(place, ahead);
        let made = if evidence::stage::is_slice(&place.stage) {
            self.bench.make_slice(place, draws.seed, draws.stays_up, self.stream)?
        } else {
            self.bench.make(place, draws.amount.as_ref(), draws.seed, self.stream)?
        };
        self.line.print_result(place, &made);
        Ok(())
    }

    fn is_resumable(&self, error: &RunError) -> bool {
        // The study can be resumed when the system accepts the requests.
        matches!(error, RunError::Rejected { .. })
    }

    fn publish(&mut self, event: RunEvent) {
        self.stream.publish(None, event);
    }

    fn is_stopped(&self) -> bool {
        self.tools.is_stopped()
    }

    fn now(&self) -> Instant {
        self.tools.clock.now()
    }
}

/// Converts the error of a study to the error of a run, with equal message and exit code.
pub(crate) fn of_study(error: StudyError) -> RunError {
    match error {
        StudyError::Plan(faults) => RunError::Plan(faults),
        StudyError::Store(error) => (*error).into(),
    }
}

/// Converts the reason why a study broke off to the error of a run.
pub(crate) fn broken(error: RunStudyError<RunError>) -> RunError {
    match error {
        RunStudyError::Study(error) => of_study(error),
        RunStudyError::Run(error) => error,
    }
}
