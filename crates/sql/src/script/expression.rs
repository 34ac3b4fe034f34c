//! Expressions of meta commands: read into a flat list of steps, which a stack of values runs through.

mod arithmetic;
mod draw;
mod evaluate;
mod function;
mod parse;
mod token;

pub(crate) use evaluate::{Evaluator, Note, Scene, Serial};
pub(crate) use function::Function;
pub(crate) use parse::{Reader, read};

use crate::script::value::Value;

/// An expression. Steps are in the order in which they are done, so that neither running nor dropping one needs the stack of
/// the thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Code(pub(crate) Vec<Instruction>);

/// One step. Jumps say how many steps are left out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// Puts a value on the stack.
    Push(Value),
    /// Puts a text on the stack.
    Text(Box<str>),
    /// Puts a variable on the stack, as a number or truth.
    Variable(u16),
    /// Puts a variable on the stack, as the text it is if nobody gave it a type.
    AnyVariable(u16),
    /// Takes that many values from the stack and puts the result there.
    Call(Function, u8),
    /// Left of AND: if it decides, it stays, and the right is left out; otherwise it goes.
    And(u32),
    /// Left of OR, likewise.
    Or(u32),
    /// Right of AND or OR: a truth, or nothing known.
    Truth,
    /// Takes a condition from the stack, and jumps unless it is true.
    Unless(u32),
    /// Jumps.
    Skip(u32),
}
