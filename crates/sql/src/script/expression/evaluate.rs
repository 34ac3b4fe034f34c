//! Evaluates compiled expressions.

use load::xoroshiro::Xoroshiro;

use super::{Code, Function, Instruction, arithmetic, draw};
use crate::script::distribution::Distribution;
use crate::script::random;
use crate::script::script_set::Names;
use crate::script::value::{Value, typed};
use crate::script::variables::Variables;

type Result<T> = std::result::Result<T, String>;

/// State that an expression reads and changes.
#[derive(Debug)]
pub(crate) struct EvaluationContext<'a> {
    pub(crate) variables: &'a mut Variables,
    pub(crate) names: &'a Names,
    pub(crate) random: &'a mut Xoroshiro,
    pub(crate) distribution: Distribution,
    pub(crate) serial: &'a mut Serial,
    /// Receiver of the output of `debug`, in order.
    pub(crate) noted: &'a mut dyn Note,
}

/// Receiver of the output of `debug`.
pub(crate) trait Note: std::fmt::Debug {
    fn note(&mut self, what: String);
}

/// Serial numbers of one client: every `step`-th.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial {
    pub(crate) next: i64,
    pub(crate) step: i64,
}

impl Serial {
    fn draw(&mut self) -> Result<i64> {
        let drawn = self.next;
        let next = drawn.checked_add(self.step);
        self.next = next.ok_or("serial numbers are used up")?;
        Ok(drawn)
    }
}

/// Stack of values with their texts. Its memory is reused by later expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluator {
    stack: Vec<Value>,
    texts: Vec<u8>,
}

impl Evaluator {
    /// Evaluates an expression. Discards the texts of the previous one.
    pub(crate) fn run(&mut self, code: &Code, context: &mut EvaluationContext<'_>) -> Result<Value> {
        self.stack.clear();
        self.texts.clear();
        let mut at = 0;
        while let Some(step) = code.0.get(at) {
            at += 1 + self.step(step, context)?;
        }
        Ok(self.pop())
    }

    /// Text of the latest evaluation.
    pub(crate) fn text(&self, from: usize, to: usize) -> &[u8] {
        &self.texts[from..to]
    }

    /// Executes an instruction. Returns the number of following instructions to skip.
    fn step(&mut self, step: &Instruction, context: &mut EvaluationContext<'_>) -> Result<usize> {
        match step {
            Instruction::Push(value) => self.stack.push(*value),
            Instruction::Text(text) => self.push_text(text.as_bytes()),
            Instruction::Variable(slot) => {
                let value = context.variables.typed(*slot, context.names)?;
                self.stack.push(value);
            }
            Instruction::AnyVariable(slot) => match context.variables.untyped(*slot) {
                Some(text) => self.push_text(text),
                None => {
                    let value = context.variables.typed(*slot, context.names)?;
                    self.stack.push(value);
                }
            },
            Instruction::Call(function, arguments) => {
                let from = self.stack.len().saturating_sub(usize::from(*arguments));
                let value = self.call(*function, from, context)?;
                self.stack.truncate(from);
                self.stack.push(value);
            }
            Instruction::And(right) => return self.left(false, *right),
            Instruction::Or(right) => return self.left(true, *right),
            Instruction::Truth => {
                let value = self.pop_resolved()?;
                let truth = if value == Value::Null { value } else { Value::Boolean(value.boolean()?) };
                self.stack.push(truth);
            }
            Instruction::Unless(skipped) => {
                if !self.pop_resolved()?.is_truth() {
                    return Ok(*skipped as usize);
                }
            }
            Instruction::Skip(skipped) => return Ok(*skipped as usize),
        }
        Ok(0)
    }

    /// Executes the left operand of AND or OR, which decides if it is `decisive` or NULL.
    fn left(&mut self, decisive: bool, right: u32) -> Result<usize> {
        let value = self.pop_resolved()?;
        if value == Value::Null || value.boolean()? == decisive {
            self.stack.push(value);
            return Ok(right as usize);
        }
        Ok(0)
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::Null)
    }

    fn pop_resolved(&mut self) -> Result<Value> {
        let value = self.pop();
        self.resolved(value)
    }

    fn push_text(&mut self, text: &[u8]) {
        let from = self.texts.len();
        self.texts.extend_from_slice(text);
        self.stack.push(Value::Text { from, to: self.texts.len() });
    }

    /// Converts a text to the number or Boolean that it represents.
    fn resolved(&self, value: Value) -> Result<Value> {
        let Value::Text { from, to } = value else { return Ok(value) };
        let text = &self.texts[from..to];
        let shown = || format!("\"{}\" is neither a number nor a truth", String::from_utf8_lossy(text));
        typed(text, "").map_err(|_| shown())
    }

    fn call(
        &mut self,
        function: Function,
        from: usize,
        context: &mut EvaluationContext<'_>,
    ) -> Result<Value> {
        match function {
            Function::Concat => return Ok(self.concat(from)),
            Function::Digits => return Ok(self.digits(from, context.random)),
            Function::Debug => return Ok(self.debug(from, context)),
            Function::Is => return Ok(self.is(from)),
            _ => {}
        }
        for at in from..self.stack.len() {
            self.stack[at] = self.resolved(self.stack[at])?;
        }
        let arguments = &self.stack[from..];
        if arguments.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        compute(function, arguments, context)
    }

    /// Concatenates texts. NULL if one of them is NULL.
    fn concat(&mut self, from: usize) -> Value {
        if self.stack[from..].contains(&Value::Null) {
            return Value::Null;
        }
        let start = self.texts.len();
        for at in from..self.stack.len() {
            self.write(self.stack[at]);
        }
        Value::Text { from: start, to: self.texts.len() }
    }

    /// Replaces each `#` in a text by a random digit.
    fn digits(&mut self, from: usize, random: &mut Xoroshiro) -> Value {
        let Some(value) = self.stack.get(from).copied().filter(|value| *value != Value::Null) else {
            return Value::Null;
        };
        let start = self.texts.len();
        self.write(value);
        for byte in self.texts[start..].iter_mut().filter(|byte| **byte == b'#') {
            *byte = b'0' + random::uniform(random, 0, 9) as u8;
        }
        Value::Text { from: start, to: self.texts.len() }
    }

    fn write(&mut self, value: Value) {
        match value {
            Value::Text { from, to } => self.texts.extend_from_within(from..to),
            other => other.write(&mut self.texts),
        }
    }

    fn debug(&mut self, from: usize, context: &mut EvaluationContext<'_>) -> Value {
        let value = self.stack.get(from).copied().unwrap_or(Value::Null);
        context.noted.note(match value {
            Value::Text { from, to } => format!("text {}", String::from_utf8_lossy(&self.texts[from..to])),
            other => other.debug_text(),
        });
        value
    }

    /// True if both values are NULL or equal Booleans. Any other text never matches.
    fn is(&mut self, from: usize) -> Value {
        let of = |at: usize| self.stack.get(from + at).copied().unwrap_or(Value::Null);
        let left = self.resolved(of(0)).unwrap_or(of(0));
        Value::Boolean(left == of(1))
    }
}

/// Evaluates functions of known numbers and Booleans.
fn compute(function: Function, arguments: &[Value], context: &mut EvaluationContext<'_>) -> Result<Value> {
    use Function as F;
    match (function, arguments) {
        (F::Pi, _) => Ok(Value::Double(std::f64::consts::PI)),
        (F::Serial, _) => Ok(Value::Int(context.serial.draw()?)),
        (F::Least | F::Greatest, _) => arithmetic::extreme(function, arguments),
        (
            F::Random
            | F::RandomGaussian
            | F::RandomExponential
            | F::RandomZipfian
            | F::RandomPareto
            | F::RandomSpecial
            | F::RandomRow,
            _,
        ) => draw::number(function, arguments, context.random, context.distribution),
        (F::Not, [value]) => Ok(Value::Boolean(!value.boolean()?)),
        (_, [value]) => arithmetic::unary(function, *value),
        (F::Power, [base, exponent]) => Ok(Value::Double(base.double()?.powf(exponent.double()?))),
        (F::HashMurmur2, [value, seed]) => Ok(Value::Int(random::murmur2(value.int()?, seed.int()?))),
        (F::HashFnv1a, [value, seed]) => Ok(Value::Int(random::fnv1a(value.int()?, seed.int()?))),
        (F::BitAnd | F::BitOr | F::BitXor | F::ShiftLeft | F::ShiftRight, [left, right]) => {
            arithmetic::bits(function, *left, *right)
        }
        (F::Permute, [value, size, seed]) => {
            let (value, size, seed) = (value.int()?, size.int()?, seed.int()?);
            if size <= 0 {
                return Err("permute size parameter must be greater than zero".to_owned());
            }
            Ok(Value::Int(random::permute(value, size, seed)))
        }
        (_, [left, right]) => arithmetic::binary(function, *left, *right),
        _ => Err("unexpected number of arguments".to_owned()),
    }
}
