//! Executes the commands of a script for one client.

use load::xoroshiro::Xoroshiro;

use crate::script::command::{Action, Amount, Command, SleepDuration, leading_int};
use crate::script::expression::{Code, EvaluationContext, Evaluator, Note, Serial};
use crate::script::player::{LOADED_ROWS_MAX, PlayerAction};
use crate::script::script_set::ScriptSet;
use crate::script::statement::LoadedRows;
use crate::script::value::{Value, typed};
use crate::script::variables::Variables;

/// Maximum number of kept lines of `debug` output.
const NOTES_MAX: usize = 1_000;

/// Execution state of a client: variables, random numbers, and position in a script.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) variables: Variables,
    evaluator: Evaluator,
    random: Xoroshiro,
    random_at_begin: Xoroshiro,
    serial: Serial,
    pub(crate) script: u16,
    /// Index of the next command.
    pub(crate) at: usize,
    is_pipelining: bool,
    pub(crate) notes: Vec<String>,
}

impl Machine {
    pub(crate) fn new(variables: Variables, random: Xoroshiro, serial: Serial) -> Self {
        Self {
            variables,
            evaluator: Evaluator::default(),
            random,
            random_at_begin: random,
            serial,
            script: 0,
            at: 0,
            is_pipelining: false,
            notes: Vec::new(),
        }
    }

    pub(crate) fn begin(&mut self, script: u16) {
        self.random_at_begin = self.random;
        (self.script, self.at, self.is_pipelining) = (script, 0, false);
    }

    pub(crate) fn restart(&mut self) {
        self.random = self.random_at_begin;
        (self.at, self.is_pipelining) = (0, false);
    }

    pub(crate) fn next(&mut self, all_scripts: &ScriptSet) -> Result<PlayerAction, String> {
        let Some(script) = all_scripts.scripts.get(usize::from(self.script)) else {
            return Ok(PlayerAction::End);
        };
        while let Some(command) = script.commands.get(self.at) {
            self.at += 1;
            let done = self.perform(all_scripts, command);
            let act = done.map_err(|message| {
                let (file, line, name) = (&script.name, command.line, command.act.name());
                format!("{file}:{line}: {message} in command \"{name}\"")
            })?;
            if let Some(act) = act {
                return Ok(act);
            }
        }
        if std::mem::take(&mut self.is_pipelining) {
            return Err(format!("{}: end of script reached with pipeline open", script.name));
        }
        Ok(PlayerAction::End)
    }

    fn perform(
        &mut self,
        all_scripts: &ScriptSet,
        command: &Command,
    ) -> Result<Option<PlayerAction>, String> {
        Ok(Some(match &command.act {
            Action::Send(number) => {
                if self.is_pipelining && all_scripts.statements[usize::from(*number)].gather.is_some() {
                    return Err(r"\gset is not allowed in pipeline mode".to_owned());
                }
                if self.is_pipelining && all_scripts.statements[usize::from(*number)].load.is_some() {
                    return Err(r"\copy is not allowed in pipeline mode".to_owned());
                }
                PlayerAction::Statement(*number)
            }
            Action::Set(slot, code) => {
                let value = self.evaluate(all_scripts, command.number, code)?;
                match value {
                    Value::Text { from, to } => self.variables.set_text(*slot, self.evaluator.text(from, to)),
                    value => self.variables.set_value(*slot, value),
                }
                return Ok(None);
            }
            Action::Unless(code, target) => {
                if !self.is_true(all_scripts, command.number, code)? {
                    self.at = *target;
                }
                return Ok(None);
            }
            Action::Jump(target) => {
                self.at = *target;
                return Ok(None);
            }
            Action::Sleep(span) => PlayerAction::Pause { ns: self.sleep_ns(span)? },
            Action::StartPipeline if self.is_pipelining => return Err("already in pipeline mode".to_owned()),
            Action::SyncPipeline | Action::EndPipeline if !self.is_pipelining => {
                return Err("not in pipeline mode".to_owned());
            }
            Action::StartPipeline => {
                self.is_pipelining = true;
                PlayerAction::StartPipeline
            }
            Action::SyncPipeline => PlayerAction::SyncPipeline,
            Action::EndPipeline => {
                self.is_pipelining = false;
                PlayerAction::EndPipeline
            }
        }))
    }

    /// Appends the rows of a statement that loads rows, as text of COPY. Returns the number of rows.
    pub(crate) fn write_rows(
        &mut self,
        all_scripts: &ScriptSet,
        rows: &LoadedRows,
        out: &mut Vec<u8>,
    ) -> Result<u64, String> {
        let count = match &rows.count {
            Amount::Fixed(count) => *count,
            Amount::Variable(slot, name) => {
                self.variables.write(*slot);
                let text =
                    self.variables.text(*slot).ok_or_else(|| format!("undefined variable \"{name}\""))?;
                leading_int(text)
            }
        };
        if !(1..=LOADED_ROWS_MAX).contains(&count) {
            return Err(format!("{count} rows, and 1 to {LOADED_ROWS_MAX} can be loaded at once"));
        }
        for _ in 0..count {
            for (number, code) in rows.values.iter().enumerate() {
                if number > 0 {
                    out.push(b'\t');
                }
                match self.evaluate(all_scripts, rows.command, code)? {
                    Value::Null => out.extend_from_slice(b"\\N"),
                    Value::Text { from, to } => write_escaped(self.evaluator.text(from, to), out),
                    // MySQL has no words for Booleans in a file.
                    Value::Boolean(value) => out.push(if value { b'1' } else { b'0' }),
                    value => value.write(out),
                }
            }
            out.push(b'\n');
            if out.len() > LOADED_BYTES_MAX {
                return Err(format!(
                    "the rows have more than {} MiB: load fewer at once",
                    LOADED_BYTES_MAX >> 20
                ));
            }
        }
        Ok(count.unsigned_abs())
    }

    fn evaluate(&mut self, all_scripts: &ScriptSet, number: u32, code: &Code) -> Result<Value, String> {
        let mut notes = Notes { lines: &mut self.notes, script: self.script, command: number };
        let mut context = EvaluationContext {
            variables: &mut self.variables,
            names: &all_scripts.names,
            random: &mut self.random,
            distribution: all_scripts.distribution,
            serial: &mut self.serial,
            noted: &mut notes,
        };
        self.evaluator.run(code, &mut context)
    }

    fn is_true(&mut self, all_scripts: &ScriptSet, number: u32, code: &Code) -> Result<bool, String> {
        match self.evaluate(all_scripts, number, code)? {
            Value::Text { from, to } => typed(self.evaluator.text(from, to), "").map(Value::is_truth),
            value => Ok(value.is_truth()),
        }
    }

    fn sleep_ns(&mut self, span: &SleepDuration) -> Result<u64, String> {
        let (slot, name) = match &span.amount {
            Amount::Fixed(amount) => return Ok(span.ns(*amount)),
            Amount::Variable(slot, name) => (*slot, name),
        };
        self.variables.write(slot);
        let text =
            self.variables.text(slot).ok_or_else(|| format!("sleep: undefined variable \"{name}\""))?;
        let amount = leading_int(text);
        if amount == 0 && !text.first().is_some_and(u8::is_ascii_digit) {
            let text = String::from_utf8_lossy(text);
            return Err(format!("sleep: invalid sleep time \"{text}\" for variable \"{name}\""));
        }
        Ok(span.ns(amount))
    }
}

/// Maximum length of rows that are loaded at once, in bytes.
const LOADED_BYTES_MAX: usize = 16 << 20;

/// Appends a text with a backslash before each character that COPY and LOAD DATA treat as special.
fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte => out.push(*byte),
        }
    }
}

/// Receives the output of `debug`.
#[derive(Debug)]
struct Notes<'a> {
    lines: &'a mut Vec<String>,
    script: u16,
    command: u32,
}

impl Note for Notes<'_> {
    fn note(&mut self, what: String) {
        if self.lines.len() < NOTES_MAX {
            let (script, command) = (self.script, self.command + 1);
            self.lines.push(format!("debug(script={script},command={command}): {what}"));
        }
    }
}
