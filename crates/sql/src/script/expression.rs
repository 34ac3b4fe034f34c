//! Expressions of meta commands, compiled to instructions of a stack machine.

mod arithmetic;
mod draw;
mod evaluate;
mod function;
mod parse;
mod token;

pub(crate) use evaluate::{EvaluationContext, Evaluator, Note, Serial};
pub(crate) use function::Function;
pub(crate) use parse::{Reader, read, read_list};

use crate::script::value::Value;

/// A compiled expression. Instructions are a flat list in execution order, so neither evaluation nor drop recurses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Code(pub(crate) Vec<Instruction>);

/// An instruction. Jumps give the number of instructions to skip.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// Pushes a value.
    Push(Value),
    /// Pushes a text.
    Text(Box<str>),
    /// Pushes a variable as a number or Boolean.
    Variable(u16),
    /// Pushes a variable; as a text if it has no type yet.
    AnyVariable(u16),
    /// Pops this many values, and pushes the result of a function.
    Call(Function, u8),
    /// Left operand of AND: if it decides, it stays and the right operand is skipped; otherwise it is popped.
    And(u32),
    /// Left operand of OR, like AND.
    Or(u32),
    /// Right operand of AND or OR: converts to a Boolean or NULL.
    Truth,
    /// Pops a condition, and jumps unless it is true.
    Unless(u32),
    /// Jumps.
    Skip(u32),
}
