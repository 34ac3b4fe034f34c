//! Builds a script from its text: statements and commands in order, and all errors.

use crate::script::command::{Action, Command};
use crate::script::fault::Fault;
use crate::script::kind;
use crate::script::meta::{Line, Meta, Problem, parse};
use crate::script::pieces::{self, SplitError};
use crate::script::place::Lines;
use crate::script::scan::{Collected, End, Scanner, place_in_source};
use crate::script::script_set::{Allow, Language, Names, Script};
use crate::script::statement::{Gather, LoadedRows, Piece, Statement, StatementKind};

/// Maximum number of reported errors.
const FAULTS_MAX: usize = 20;
/// Maximum length of a statement's title in reports, in bytes.
const TITLE_BYTES_MAX: usize = 127;
/// Maximum number of values per statement: a protocol message has two bytes for it.
const VALUES_MAX: usize = 65_535;

/// Script under construction.
pub(crate) struct Builder<'a> {
    name: &'a str,
    source: &'a [u8],
    language: Language,
    allow: Allow,
    names: &'a mut Names,
    lines: Lines<'a>,
    /// Number of the script.
    script: u16,
    /// Number of its first statement.
    first_statement: u16,
    statements: Vec<Statement>,
    commands: Vec<Command>,
    /// Number of commands as pgbench counts them.
    count: u32,
    blocks: Vec<Block>,
    faults: Vec<Fault>,
    /// True if the last command is a statement whose rows are not stored yet.
    may_gather: bool,
}

/// Open `\if` that still lacks its `\endif`.
struct Block {
    /// Index of the condition that jumps to the next branch. `None` after `\else`, or if the condition is invalid.
    unless: Option<usize>,
    /// Indexes of jumps at the ends of branches, which go past the `\endif`.
    exits: Vec<usize>,
    has_else: bool,
    /// Position of its backslash.
    at: usize,
}

/// A built script.
pub(crate) struct BuiltScript {
    pub(crate) script: Script,
    pub(crate) statements: Vec<Statement>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        name: &'a str,
        source: &'a [u8],
        (language, allow): (Language, Allow),
        names: &'a mut Names,
        (script, first_statement): (u16, u16),
    ) -> Self {
        Self {
            name,
            source,
            language,
            allow,
            names,
            lines: Lines::new(source),
            script,
            first_statement,
            statements: Vec::new(),
            commands: Vec::new(),
            count: 0,
            blocks: Vec::new(),
            faults: Vec::new(),
            may_gather: false,
        }
    }

    /// Parses the whole text.
    pub(crate) fn build(mut self) -> Result<BuiltScript, Vec<Fault>> {
        let unreadable = match std::str::from_utf8(self.source) {
            Err(error) => Some((error.valid_up_to(), "the script is not in UTF-8 here")),
            Ok(text) => text.find('\0').map(|at| (at, "a byte of zero does not belong into a script")),
        };
        if let Some((at, message)) = unreadable {
            self.fault(at, Some(at), message.to_owned(), None);
            return Err(self.faults);
        }
        self.read();
        while let Some(block) = self.blocks.pop() {
            self.fault(block.at, None, r"\if without matching \endif".to_owned(), Some("if"));
        }
        if self.commands.is_empty() && self.faults.is_empty() {
            self.fault(0, None, format!("empty command list for script \"{}\"", self.name), None);
        }
        if !self.faults.is_empty() {
            self.faults.sort_by_key(|fault| fault.line);
            return Err(self.faults);
        }
        let from = self.first_statement;
        let script = Script {
            name: self.name.to_owned(),
            statements: from..from + self.statements.len() as u16,
            has_pipeline: self.commands.iter().any(|command| matches!(command.act, Action::StartPipeline)),
            commands: self.commands,
        };
        Ok(BuiltScript { script, statements: self.statements })
    }

    fn read(&mut self) {
        let mut scanner = Scanner::new(self.source, self.language);
        while self.faults.len() < FAULTS_MAX {
            let (collected, end) = scanner.scan();
            let has_text = !collected.text.is_empty();
            match end {
                End::Open { at, what } => {
                    self.fault(at, Some(at), format!("{what} without its end"), None);
                    return;
                }
                _ if has_text => self.statement(collected),
                _ => {}
            }
            match end {
                End::Backslash => {
                    let line = Line::from(self.source, scanner.at);
                    scanner.at = line.range.end;
                    self.meta(line);
                }
                End::Script => return,
                _ => {}
            }
        }
    }

    fn statement(&mut self, collected: Collected) {
        let Collected { text, quoted, start } = collected;
        // pgbench sends trailing white space unchanged.
        let text = if self.language == Language::Pgbench { &text[..] } else { text.trim_ascii_end() };
        let split_text = pieces::split_text(text, &quoted, self.language, self.names);
        let number = usize::from(self.first_statement) + self.statements.len();
        let problem = match &split_text {
            Err(SplitError::TooManyVariables) => Some("too many variables".to_owned()),
            Err(SplitError::Unsafe { at, message }) => {
                let at = place_in_source(start, *at, &quoted);
                return self.fault(start, Some(at), message.clone(), None);
            }
            Ok(pieces) if values(pieces) > VALUES_MAX => {
                Some(format!("statement has too many arguments (maximum is {VALUES_MAX})"))
            }
            _ if number >= usize::from(u16::MAX) => Some("too many statements in all scripts".to_owned()),
            _ => None,
        };
        if let Some(message) = problem {
            return self.fault(start, None, message, None);
        }
        let statement = Statement {
            title: title(text),
            kind: kind::of(text, &quoted),
            gather: None,
            prefix: String::new(),
            pieces: split_text.unwrap_or_default(),
            load: None,
            script: self.script,
            line: self.lines.line(start),
            language: self.language,
        };
        self.statements.push(statement);
        self.push(start, Action::Send(number as u16));
        self.may_gather = true;
    }

    fn meta(&mut self, mut line: Line<'_>) {
        let start = line.range.start - 1;
        let Some((word, _)) = line.word() else { return };
        let shown = String::from_utf8_lossy(word).into_owned();
        let parsed = parse(word, line, self.names, self.language, self.allow);
        let may_gather = std::mem::take(&mut self.may_gather);
        let problem = match parsed {
            Ok(meta) => self.take(meta, start, may_gather),
            Err(problem) => {
                self.open_invalid_block(word, start);
                Some(problem)
            }
        };
        if let Some(Problem { message, at }) = problem {
            self.fault(start, at, message, Some(&shown));
        }
    }

    /// Opens a block for an invalid condition, so that its end is not reported as another error.
    fn open_invalid_block(&mut self, word: &[u8], at: usize) {
        if word.eq_ignore_ascii_case(b"if") {
            self.blocks.push(Block { unless: None, exits: Vec::new(), has_else: false, at });
        } else if word.eq_ignore_ascii_case(b"endif") {
            self.blocks.pop();
        }
    }

    fn take(&mut self, meta: Meta, start: usize, may_gather: bool) -> Option<Problem> {
        match meta {
            Meta::Set(slot, code) => self.push(start, Action::Set(slot, code)),
            Meta::Sleep(span) => self.push(start, Action::Sleep(span)),
            Meta::StartPipeline => self.push(start, Action::StartPipeline),
            Meta::SyncPipeline => self.push(start, Action::SyncPipeline),
            Meta::EndPipeline => self.push(start, Action::EndPipeline),
            Meta::If(code) => {
                let unless = Some(self.commands.len());
                self.blocks.push(Block { unless, exits: Vec::new(), has_else: false, at: start });
                self.push(start, Action::Unless(code, 0));
            }
            Meta::Elif(code) => {
                if let Err(message) = self.branch(start, "elif") {
                    return Some(Problem { message, at: None });
                }
                let here = self.commands.len();
                if let Some(block) = self.blocks.last_mut() {
                    block.unless = Some(here);
                }
                self.push(start, Action::Unless(code, 0));
            }
            Meta::Else => {
                if let Err(message) = self.branch(start, "else") {
                    return Some(Problem { message, at: None });
                }
                self.count += 1;
                if let Some(block) = self.blocks.last_mut() {
                    block.has_else = true;
                }
            }
            Meta::Endif => {
                let Some(block) = self.blocks.pop() else {
                    return Some(Problem { message: r"\endif without matching \if".to_owned(), at: None });
                };
                self.count += 1;
                let here = self.commands.len();
                block.exits.into_iter().chain(block.unless).for_each(|from| self.set_jump_target(from, here));
            }
            Meta::Copy(rows) => return self.load(start, rows),
            Meta::Gset(prefix) => return self.gather(Gather::One, prefix, may_gather),
            Meta::Aset(prefix) => return self.gather(Gather::Last, prefix, may_gather),
        }
        None
    }

    /// Adds a statement that loads rows. Its text in the script is in PostgreSQL syntax; each database has a separate text.
    fn load(&mut self, start: usize, rows: LoadedRows) -> Option<Problem> {
        let number = usize::from(self.first_statement) + self.statements.len();
        if number >= usize::from(u16::MAX) {
            return Some(Problem { message: "too many statements in all scripts".to_owned(), at: None });
        }
        let text = format!("COPY {} ({}) FROM STDIN", rows.table, rows.columns);
        self.statements.push(Statement {
            title: title(text.as_bytes()),
            kind: StatementKind::Other,
            gather: None,
            prefix: String::new(),
            pieces: vec![Piece::Text(text)],
            load: Some(Box::new(LoadedRows { command: self.count, ..rows })),
            script: self.script,
            line: self.lines.line(start),
            language: self.language,
        });
        self.push(start, Action::Send(number as u16));
        None
    }

    /// Ends a branch with a jump, and makes the preceding condition jump here.
    fn branch(&mut self, start: usize, name: &str) -> Result<(), String> {
        let Some(block) = self.blocks.last_mut() else {
            return Err(format!(r"\{name} without matching \if"));
        };
        if block.has_else {
            return Err(format!(r"\{name} after \else"));
        }
        let unless = block.unless.take();
        let exit = self.commands.len();
        block.exits.push(exit);
        // The jump is not counted as a command.
        let (line, number) = (self.lines.line(start), self.count);
        self.commands.push(Command { act: Action::Jump(0), line, number });
        if let Some(unless) = unless {
            self.set_jump_target(unless, exit + 1);
        }
        Ok(())
    }

    fn set_jump_target(&mut self, from: usize, target: usize) {
        if let Some(Command { act: Action::Unless(_, to) | Action::Jump(to), .. }) =
            self.commands.get_mut(from)
        {
            *to = target;
        }
    }

    fn gather(&mut self, gather: Gather, prefix: String, may_gather: bool) -> Option<Problem> {
        match self.statements.last_mut().filter(|_| may_gather) {
            Some(statement) => {
                (statement.gather, statement.prefix) = (Some(gather), prefix);
                None
            }
            None => {
                let name = if gather == Gather::One { "gset" } else { "aset" };
                Some(Problem { message: format!(r"\{name} must follow an SQL command"), at: None })
            }
        }
    }

    fn push(&mut self, start: usize, act: Action) {
        let line = self.lines.line(start);
        self.commands.push(Command { act, line, number: self.count });
        self.count += 1;
    }

    /// Adds an error in the command that begins at `start`, found at `at`.
    fn fault(&mut self, start: usize, at: Option<usize>, message: String, command: Option<&str>) {
        let (line, column) = self.lines.line_and_column(at.unwrap_or(start));
        let excerpt = self.lines.excerpt(start, at);
        self.faults.push(Fault {
            script: self.name.to_owned(),
            line,
            column: at.map(|_| column),
            message,
            command: command.map(str::to_owned),
            mark: excerpt.as_ref().and_then(|(_, mark)| *mark),
            excerpt: excerpt.map(|(excerpt, _)| excerpt),
        });
    }
}

fn values(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| matches!(piece, Piece::Value { .. })).count()
}

/// First line, shortened for reports.
fn title(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let first = text.lines().next().unwrap_or_default();
    first[..first.floor_char_boundary(TITLE_BYTES_MAX)].to_owned()
}
