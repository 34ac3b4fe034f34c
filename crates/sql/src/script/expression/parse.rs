//! Parses expressions by operator precedence, from OR (1, the weakest) to the sign (9).

use super::function::{Function, NamedFunction};
use super::token::{Keyword, Token, Tokens};
use super::{Code, Instruction};
use crate::script::script_set::{Language, Names};
use crate::script::value::Value;

/// Maximum nesting depth. The parser is recursive.
const DEPTH_MAX: u32 = 200;

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARISON: u8 = 5;
const BITS: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// A syntax error with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    pub(crate) at: usize,
}

type Read<T> = Result<T, SyntaxError>;

/// Context of the parser.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) language: Language,
}

/// Parses a text that consists of one expression.
pub(crate) fn read(text: &[u8], reader: Reader<'_>) -> Read<Code> {
    let language = reader.language;
    let mut parser = Parser {
        tokens: Tokens::new(text, language),
        token: Token::End,
        at: 0,
        reader,
        depth: 0,
        seed: None,
    };
    parser.advance()?;
    let code = parser.expression(OR)?;
    if parser.token != Token::End {
        return Err(parser.unexpected());
    }
    Ok(Code(code))
}

/// Parses a text that consists of expressions in parentheses, with commas between them.
pub(crate) fn read_list(text: &[u8], reader: Reader<'_>) -> Read<Vec<Code>> {
    let tokens = Tokens::new(text, reader.language);
    let mut parser = Parser { tokens, token: Token::End, at: 0, reader, depth: 0, seed: None };
    parser.advance()?;
    let mut codes = Vec::new();
    let mut sign = "(";
    while parser.token == Token::Symbol(sign) {
        parser.advance()?;
        codes.push(Code(parser.expression(OR)?));
        sign = ",";
    }
    if codes.is_empty() || parser.token != Token::Symbol(")") {
        return Err(parser.unexpected());
    }
    parser.advance()?;
    if parser.token != Token::End {
        return Err(parser.unexpected());
    }
    Ok(codes)
}

struct Parser<'a, 'n> {
    tokens: Tokens<'a>,
    /// Next token.
    token: Token<'a>,
    /// Position of the next token.
    at: usize,
    reader: Reader<'n>,
    depth: u32,
    /// Slot of the variable `default_seed`, once it is needed.
    seed: Option<u16>,
}

/// A binary operator.
#[derive(Clone, Copy)]
struct Infix {
    precedence: u8,
    action: Action,
}

#[derive(Clone, Copy)]
enum Action {
    Call(Function),
    /// Function with swapped operands.
    Swapped(Function),
    And,
    Or,
}

impl Infix {
    fn of(token: &Token<'_>) -> Option<Self> {
        use Action::{Call, Swapped};
        let (precedence, action) = match token {
            Token::Keyword(Keyword::Or) => (OR, Action::Or),
            Token::Keyword(Keyword::And) => (AND, Action::And),
            Token::Symbol(sign) => match *sign {
                "<" => (COMPARISON, Call(Function::Less)),
                "<=" => (COMPARISON, Call(Function::LessOrEqual)),
                ">" => (COMPARISON, Swapped(Function::Less)),
                ">=" => (COMPARISON, Swapped(Function::LessOrEqual)),
                "=" => (COMPARISON, Call(Function::Equal)),
                "<>" | "!=" => (COMPARISON, Call(Function::Unequal)),
                "|" => (BITS, Call(Function::BitOr)),
                "#" => (BITS, Call(Function::BitXor)),
                "&" => (BITS, Call(Function::BitAnd)),
                "<<" => (BITS, Call(Function::ShiftLeft)),
                ">>" => (BITS, Call(Function::ShiftRight)),
                "+" => (SUM, Call(Function::Add)),
                "-" => (SUM, Call(Function::Subtract)),
                "*" => (PRODUCT, Call(Function::Multiply)),
                "/" => (PRODUCT, Call(Function::Divide)),
                "%" => (PRODUCT, Call(Function::Modulo)),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { precedence, action })
    }
}

impl Parser<'_, '_> {
    fn advance(&mut self) -> Read<()> {
        match self.tokens.next() {
            Ok((token, at)) => (self.token, self.at) = (token, at),
            Err((message, at)) => return Err(SyntaxError { message, at }),
        }
        Ok(())
    }

    fn syntax_error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError { message: message.into(), at: self.at }
    }

    fn unexpected(&self) -> SyntaxError {
        self.syntax_error("syntax error")
    }

    fn eat(&mut self, token: &Token<'static>) -> Read<bool> {
        let is_there = self.token == *token;
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    fn expect(&mut self, token: &Token<'static>) -> Read<()> {
        if self.eat(token)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Parses an operand and the operators after it with precedence `min_precedence` or higher.
    fn expression(&mut self, min_precedence: u8) -> Read<Vec<Instruction>> {
        if self.depth == DEPTH_MAX {
            return Err(self.syntax_error(format!("expression is nested more than {DEPTH_MAX} levels deep")));
        }
        self.depth += 1;
        let mut left = self.operand()?;
        // Comparisons cannot be chained.
        let mut compared = false;
        loop {
            if min_precedence <= IS && self.postfix(&mut left)? {
                compared = false;
                continue;
            }
            let Some(infix) = Infix::of(&self.token).filter(|infix| infix.precedence >= min_precedence)
            else {
                break;
            };
            if compared && infix.precedence == COMPARISON {
                return Err(self.unexpected());
            }
            compared = infix.precedence == COMPARISON;
            self.advance()?;
            let right = self.expression(infix.precedence + 1)?;
            left = joined(left, right, infix.action);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses `ISNULL`, `NOTNULL`, `IS [NOT] NULL|TRUE|FALSE`.
    fn postfix(&mut self, left: &mut Vec<Instruction>) -> Read<bool> {
        let (value, is_negated) = match self.token {
            Token::Keyword(Keyword::Isnull) => (Value::Null, false),
            Token::Keyword(Keyword::Notnull) => (Value::Null, true),
            Token::Keyword(Keyword::Is) => {
                self.advance()?;
                let is_negated = self.eat(&Token::Keyword(Keyword::Not))?;
                match self.token {
                    Token::Null => (Value::Null, is_negated),
                    Token::Boolean(value) => (Value::Boolean(value), is_negated),
                    _ => return Err(self.unexpected()),
                }
            }
            _ => return Ok(false),
        };
        self.advance()?;
        left.extend([Instruction::Push(value), Instruction::Call(Function::Is, 2)]);
        if is_negated {
            left.push(Instruction::Call(Function::Not, 1));
        }
        Ok(true)
    }

    fn operand(&mut self) -> Read<Vec<Instruction>> {
        let token = self.token.clone();
        let at = self.at;
        self.advance()?;
        Ok(match token {
            Token::Int(value) => vec![Instruction::Push(Value::Int(value))],
            Token::Double(value) => vec![Instruction::Push(Value::Double(value))],
            Token::Boolean(value) => vec![Instruction::Push(Value::Boolean(value))],
            Token::Null => vec![Instruction::Push(Value::Null)],
            Token::Text(text) => vec![Instruction::Text(text.into())],
            Token::Variable(name) => vec![self.variable(name, at)?],
            Token::Name(name) => self.call(name, at)?,
            Token::Keyword(Keyword::Not) => {
                let mut code = self.expression(NOT)?;
                code.push(Instruction::Call(Function::Not, 1));
                code
            }
            Token::Keyword(Keyword::Case) => self.case()?,
            Token::Symbol("(") => {
                let code = self.expression(OR)?;
                self.expect(&Token::Symbol(")"))?;
                code
            }
            Token::Symbol("+") => self.expression(SIGN)?,
            Token::Symbol("-") => self.negative()?,
            // Weaker than a sum: ~1+2 is ~(1+2).
            Token::Symbol("~") => {
                let minus_one = vec![Instruction::Push(Value::Int(-1))];
                joined(minus_one, self.expression(SUM)?, Action::Call(Function::BitXor))
            }
            _ => return Err(SyntaxError { message: "syntax error".to_owned(), at }),
        })
    }

    /// Parses a negation, which is a subtraction from zero.
    fn negative(&mut self) -> Read<Vec<Instruction>> {
        if self.eat(&Token::IntBelow)? {
            return Ok(vec![Instruction::Push(Value::Int(i64::MIN))]);
        }
        let code = self.expression(SIGN)?;
        Ok(match code[..] {
            [Instruction::Push(Value::Int(value))] if value >= 0 => {
                vec![Instruction::Push(Value::Int(-value))]
            }
            [Instruction::Push(Value::Double(value))] => vec![Instruction::Push(Value::Double(0.0 - value))],
            _ => joined(vec![Instruction::Push(Value::Int(0))], code, Action::Call(Function::Subtract)),
        })
    }

    fn variable(&mut self, name: &[u8], at: usize) -> Read<Instruction> {
        let name = String::from_utf8_lossy(name);
        let slot = self.reader.names.slot(&name);
        let slot = slot.ok_or_else(|| SyntaxError { message: "too many variables".to_owned(), at })?;
        Ok(match self.reader.language {
            Language::Pgbench => Instruction::Variable(slot),
            Language::Extended => Instruction::AnyVariable(slot),
        })
    }

    fn call(&mut self, name: &[u8], at: usize) -> Read<Vec<Instruction>> {
        let Some(named) = NamedFunction::find(name, self.reader.language) else {
            let name = String::from_utf8_lossy(name);
            return Err(SyntaxError { message: format!("unexpected function name ({name})"), at });
        };
        self.expect(&Token::Symbol("("))?;
        let mut code = Vec::new();
        let mut arguments = 0;
        // pgbench allows an empty first argument before a comma.
        if !matches!(self.token, Token::Symbol(")" | ",")) {
            code = self.expression(OR)?;
            arguments = 1;
        }
        while self.eat(&Token::Symbol(","))? {
            code.append(&mut self.expression(OR)?);
            arguments += 1;
        }
        if self.token != Token::Symbol(")") {
            return Err(self.unexpected());
        }
        if named.check(arguments).map_err(|message| self.syntax_error(message))? {
            code.push(self.default_seed()?);
            arguments += 1;
        }
        self.advance()?;
        code.push(Instruction::Call(named.function(), arguments as u8));
        Ok(code)
    }

    fn default_seed(&mut self) -> Read<Instruction> {
        let slot = self.seed.or_else(|| self.reader.names.slot("default_seed"));
        self.seed = slot;
        slot.map(Instruction::Variable).ok_or_else(|| self.syntax_error("too many variables"))
    }

    /// Parses `CASE WHEN condition THEN value … [ELSE value] END` after its first word.
    fn case(&mut self) -> Read<Vec<Instruction>> {
        if self.token != Token::Keyword(Keyword::When) {
            return Err(self.unexpected());
        }
        let mut branches = Vec::new();
        while self.eat(&Token::Keyword(Keyword::When))? {
            let condition = self.expression(OR)?;
            self.expect(&Token::Keyword(Keyword::Then))?;
            branches.push((condition, self.expression(OR)?));
        }
        let mut code = match self.eat(&Token::Keyword(Keyword::Else))? {
            true => self.expression(OR)?,
            false => vec![Instruction::Push(Value::Null)],
        };
        self.expect(&Token::Keyword(Keyword::End))?;
        // Built backwards, because each branch must know the length of the following code.
        code.reverse();
        for (condition, value) in branches.into_iter().rev() {
            let (rest, taken) = (code.len() as u32, value.len() as u32);
            code.push(Instruction::Skip(rest));
            code.extend(value.into_iter().rev());
            code.push(Instruction::Unless(taken + 1));
            code.extend(condition.into_iter().rev());
        }
        code.reverse();
        Ok(code)
    }
}

/// Code of two operands and their operator.
fn joined(mut left: Vec<Instruction>, mut right: Vec<Instruction>, action: Action) -> Vec<Instruction> {
    let skipped = right.len() as u32 + 1;
    match action {
        Action::Call(function) => {
            left.append(&mut right);
            left.push(Instruction::Call(function, 2));
            left
        }
        Action::Swapped(function) => joined(right, left, Action::Call(function)),
        Action::And | Action::Or => {
            left.push(if matches!(action, Action::And) {
                Instruction::And(skipped)
            } else {
                Instruction::Or(skipped)
            });
            left.append(&mut right);
            left.push(Instruction::Truth);
            left
        }
    }
}
