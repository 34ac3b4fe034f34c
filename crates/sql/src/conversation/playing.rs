//! Continues a script from one reply to the next request, or to the end of the transaction.

use crate::script::{Backslashes, Broken, PlayerAction};
use wire::sql::{ServerError, Statement, Transaction};
use wire::{ErrorClass, Next, Rejection, Reply};

use super::{SqlConversation, State, literals};
use crate::classes;
use crate::settings::Mode;

impl SqlConversation {
    /// Continues the script until something must be sent or waited for.
    pub(super) fn play(&mut self) -> Next {
        loop {
            match self.player.next() {
                Ok(PlayerAction::Statement(number)) if self.queue.is_open() => self.pipe(number),
                Ok(PlayerAction::Statement(number)) => return self.ask(number),
                Ok(PlayerAction::End) => return self.script_ended(),
                Ok(PlayerAction::Pause { ns }) => {
                    self.state = State::Pause;
                    return Next::Pause { ns };
                }
                Ok(act) => match self.pipeline(act) {
                    Ok(None) => {}
                    Ok(Some(next)) => return next,
                    Err(broken) => return self.abort(broken),
                },
                Err(broken) => return self.abort(broken),
            }
        }
    }

    fn ask(&mut self, number: u16) -> Next {
        let line = &self.program.lines[usize::from(number)];
        self.is_in_doubt = line.effect.may_commit(self.session.transaction() != Transaction::Idle);
        if line.gathers {
            self.player.start_rows(number);
        }
        (self.state, self.rows, self.loaded_rows) = (State::Statement(number), 0, 0);
        // The previous request stays in the output until the next one, because no request is sent at the end of a script.
        self.session.clear();
        if self.program.lines[usize::from(number)].is_load {
            return self.load(number);
        }
        self.put(number);
        Next::Send
    }

    /// Sends a statement with the rows that it loads.
    fn load(&mut self, number: u16) -> Next {
        let mut rows = Vec::new();
        match self.player.fill_rows(number, &mut rows) {
            Ok(count) => self.loaded_rows = count,
            Err(broken) => return self.abort(broken),
        }
        self.session.load(self.program.lines[usize::from(number)].text.as_bytes(), rows);
        Next::Send
    }

    /// Sends a statement, followed by a synchronization point unless a pipeline is open.
    fn put(&mut self, number: u16) {
        let line = &self.program.lines[usize::from(number)];
        let mode = self.program.settings.mode;
        if mode == Mode::Simple {
            self.scratch.clear();
            if line.has_literals {
                let engine = self.program.engine;
                let backslashes = self.backslashes();
                self.player.fill_literals(
                    number,
                    |value, out| literals::write(engine, value, out),
                    backslashes,
                    &mut self.scratch,
                );
            } else {
                self.player.fill_text(number, &mut self.scratch);
            }
            return self.session.query(&self.scratch);
        }
        if line.is_plain && mode == Mode::Extended {
            return self.session.query(line.text.as_bytes());
        }
        let is_kept = mode == Mode::Prepared;
        if line.is_fixed {
            let statement = Statement { number: line.number, text: &line.text, is_kept };
            let values = self.player.values(number);
            let mut values = values.map(|literal| literals::value(literal, line.has_literals));
            self.session.execute(statement, &mut values);
        } else {
            self.put_generated(number, is_kept);
        }
        if !self.queue.is_open() {
            self.session.sync();
        }
    }

    /// Quotes in which the server currently reads a backslash as an escape.
    fn backslashes(&self) -> Backslashes {
        let in_single = self.session.has_backslash_escapes();
        Backslashes {
            in_single,
            in_double: in_single && self.program.engine.dialect().lexical_rules.has_escapes_in_quotes,
        }
    }

    /// Sends a statement with a text that is generated each time.
    fn put_generated(&mut self, number: u16, is_kept: bool) {
        self.scratch.clear();
        let backslashes = self.backslashes();
        self.player.fill_extended(number, self.program.engine.placeholders(), backslashes, &mut self.scratch);
        let text = String::from_utf8_lossy(&self.scratch);
        let line = &self.program.lines[usize::from(number)];
        let kept = if is_kept { self.texts.number(&text, line.gathers) } else { None };
        let statement = Statement { number: kept.unwrap_or(number), text: &text, is_kept: kept.is_some() };
        let values = self.player.values(number);
        self.session
            .execute(statement, &mut values.map(|literal| literals::value(literal, line.has_literals)));
    }

    fn pipe(&mut self, number: u16) {
        let effect = self.program.lines[usize::from(number)].effect;
        self.is_in_doubt |= effect.may_commit(self.will_be_open);
        self.will_be_open = effect.is_open_after(self.will_be_open);
        self.queue.push_statement(number);
        self.put(number);
    }

    fn pipeline(&mut self, act: PlayerAction) -> Result<Option<Next>, Broken> {
        let wrong = |what: &str| Err(Broken(what.to_owned()));
        match (act, self.queue.is_open()) {
            (PlayerAction::StartPipeline, true) => return wrong("already in pipeline mode"),
            (PlayerAction::StartPipeline, false) => {
                self.queue.open();
                self.session.clear();
                self.is_in_doubt = false;
                self.will_be_open = self.session.transaction() != Transaction::Idle;
            }
            (_, false) => return wrong("not in pipeline mode"),
            (act, true) => {
                self.session.sync();
                self.queue.push_sync();
                if act == PlayerAction::EndPipeline {
                    self.queue.close();
                    self.state = State::Pipeline;
                    return Ok(Some(Next::Send));
                }
            }
        }
        Ok(None)
    }

    /// Handles the reply to a statement outside of pipelines.
    pub(super) fn on_answered(&mut self, number: u16, rejection: Option<Rejection>) -> Next {
        if let Some(rejection) = rejection {
            (self.rejection, self.broken) = (None, None);
            return self.give_up(rejection);
        }
        self.is_in_doubt = false;
        if self.program.lines[usize::from(number)].gathers {
            let ended = self.player.end_rows();
            if let Some(Broken(words)) = self.broken.take().or(ended.err()) {
                self.server_error = ServerError { text: words, ..ServerError::default() };
                let rejection = Rejection { class: ErrorClass::ScriptStopped, code: 0 };
                return Next::Done(Reply { reusable: false, ..self.end_transaction(Some(rejection)) });
            }
        }
        self.play()
    }

    /// Handles the end of a pipeline.
    pub(super) fn on_pipeline_end(&mut self, rejection: Option<Rejection>) -> Next {
        self.is_in_doubt = false;
        match rejection {
            Some(rejection) => self.give_up(rejection),
            None => self.play(),
        }
    }

    /// Rejection of a statement whose row count differs from the expectation of the step.
    pub(super) fn unexpected_rows(&self, number: u16) -> Option<Rejection> {
        if self.loaded_rows > 0 && self.rows != self.loaded_rows {
            return Some(Rejection {
                class: ErrorClass::Rows,
                code: u32::try_from(self.rows).unwrap_or(u32::MAX),
            });
        }
        let (of, expected) = self.program.steps[usize::from(self.step)].expects?;
        let is_wrong = of == number && !expected.holds(self.rows);
        is_wrong.then(|| Rejection {
            class: ErrorClass::Rows,
            code: u32::try_from(self.rows).unwrap_or(u32::MAX),
        })
    }

    /// Refusal of a statement that the server answered with a rollback, unless the statement requested one.
    pub(super) fn unexpected_rollback(&self) -> Option<Rejection> {
        let number = match self.state {
            State::Statement(number) => number,
            State::Pipeline => self.queue.front()?,
            State::Idle | State::Pause | State::RollBack(_) => return None,
        };
        let is_asked = self.program.lines[usize::from(number)].effect.rolls_back();
        (!is_asked).then_some(Rejection { class: ErrorClass::RolledBack, code: 0 })
    }

    /// Ends a rejected try, and rolls back the open transaction.
    pub(super) fn give_up(&mut self, rejection: Rejection) -> Next {
        self.is_in_doubt = false;
        if self.session.transaction() == Transaction::Idle {
            return self.try_again(rejection);
        }
        self.session.clear();
        self.session.query(b"ROLLBACK");
        self.state = State::RollBack(rejection);
        Next::Send
    }

    /// Handles the reply to the ROLLBACK after a refusal.
    pub(super) fn rolled_back(&mut self, rejection: Rejection) -> Next {
        let is_clean = self.rejection.take().is_none() && self.session.transaction() == Transaction::Idle;
        if is_clean {
            return self.try_again(rejection);
        }
        Next::Done(Reply { reusable: false, ..self.end_transaction(Some(rejection)) })
    }

    fn try_again(&mut self, rejection: Rejection) -> Next {
        let settings = &self.program.settings;
        let is_left = settings.max_tries == 0 || self.tries < settings.max_tries;
        let is_said = !matches!(
            rejection.class,
            ErrorClass::Rows | ErrorClass::OpenTransaction | ErrorClass::RolledBack
        );
        let helps = classes::is_retryable(rejection.class)
            || is_said
                && settings.retries.iter().any(|retry| retry.applies_to(rejection.class, &self.server_error));
        if !(is_left && helps) {
            return Next::Done(self.end_transaction(Some(rejection)));
        }
        self.tries = self.tries.saturating_add(1);
        self.player.restart();
        self.try_rows = 0;
        self.play()
    }

    fn script_ended(&mut self) -> Next {
        if self.queue.is_open() {
            return self.abort(Broken("end of script reached with pipeline open".to_owned()));
        }
        if self.session.transaction() != Transaction::Idle {
            return self.give_up(Rejection { class: ErrorClass::OpenTransaction, code: 0 });
        }
        Next::Done(self.end_transaction(None))
    }

    fn abort(&mut self, broken: Broken) -> Next {
        self.end_transaction(None);
        self.queue.clear();
        Next::Broken(broken.0)
    }

    /// Ends the transaction.
    pub(super) fn end_transaction(&mut self, rejection: Option<Rejection>) -> Reply {
        self.state = State::Idle;
        self.is_in_doubt = false;
        let status = u16::try_from(self.tries).unwrap_or(u16::MAX);
        Reply { status, rejection, reusable: true, idle_max_s: 0, received_bytes: self.received_bytes }
    }
}
