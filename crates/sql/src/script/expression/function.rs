//! Functions of expressions, with their names and numbers of arguments.

use crate::script::script_set::Language;

/// A function or an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Is,
    Abs,
    Least,
    Greatest,
    Debug,
    Pi,
    Sqrt,
    Ln,
    Exp,
    Int,
    Double,
    Power,
    Random,
    RandomGaussian,
    RandomExponential,
    RandomZipfian,
    HashMurmur2,
    HashFnv1a,
    Permute,
    Concat,
    Digits,
    RandomSpecial,
    RandomPareto,
    RandomRow,
    Serial,
}

/// Number of arguments of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arity {
    Exactly(usize),
    /// One argument or more.
    Some,
    /// A fixed number plus an optional seed, which defaults to `default_seed`.
    AndSeed(usize),
}

/// Maximum number of arguments, as in pgbench.
const ARGUMENTS_MAX: usize = 16;
/// Maximum number of arguments of a text function, which an instruction stores in a byte.
const TEXT_ARGUMENTS_MAX: usize = 255;

type Entry = (&'static str, Arity, Function);

const PGBENCH: &[Entry] = &[
    ("mod", Arity::Exactly(2), Function::Modulo),
    ("abs", Arity::Exactly(1), Function::Abs),
    ("least", Arity::Some, Function::Least),
    ("greatest", Arity::Some, Function::Greatest),
    ("debug", Arity::Exactly(1), Function::Debug),
    ("pi", Arity::Exactly(0), Function::Pi),
    ("sqrt", Arity::Exactly(1), Function::Sqrt),
    ("ln", Arity::Exactly(1), Function::Ln),
    ("exp", Arity::Exactly(1), Function::Exp),
    ("int", Arity::Exactly(1), Function::Int),
    ("double", Arity::Exactly(1), Function::Double),
    ("pow", Arity::Exactly(2), Function::Power),
    ("power", Arity::Exactly(2), Function::Power),
    ("random", Arity::Exactly(2), Function::Random),
    ("random_gaussian", Arity::Exactly(3), Function::RandomGaussian),
    ("random_exponential", Arity::Exactly(3), Function::RandomExponential),
    ("random_zipfian", Arity::Exactly(3), Function::RandomZipfian),
    ("hash", Arity::AndSeed(1), Function::HashMurmur2),
    ("hash_murmur2", Arity::AndSeed(1), Function::HashMurmur2),
    ("hash_fnv1a", Arity::AndSeed(1), Function::HashFnv1a),
    ("permute", Arity::AndSeed(2), Function::Permute),
];

const EXTENDED: &[Entry] = &[
    ("concat", Arity::Some, Function::Concat),
    ("digits", Arity::Exactly(1), Function::Digits),
    ("random_special", Arity::Exactly(2), Function::RandomSpecial),
    ("random_pareto", Arity::Exactly(3), Function::RandomPareto),
    ("random_row", Arity::Exactly(2), Function::RandomRow),
    ("serial", Arity::Exactly(0), Function::Serial),
];

/// A function by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedFunction(Entry);

impl NamedFunction {
    /// Finds a function by its case-insensitive name.
    pub(super) fn find(name: &[u8], language: Language) -> Option<Self> {
        let more = if language == Language::Extended { EXTENDED } else { &[] };
        let found = PGBENCH.iter().chain(more).find(|entry| entry.0.as_bytes().eq_ignore_ascii_case(name));
        found.copied().map(Self)
    }

    pub(super) fn function(self) -> Function {
        self.0.2
    }

    /// Checks a number of arguments. Returns true if the default seed must be added.
    pub(super) fn check(self, arguments: usize) -> Result<bool, String> {
        let (name, takes, function) = self.0;
        let max = if function == Function::Concat { TEXT_ARGUMENTS_MAX } else { ARGUMENTS_MAX };
        let fits = match takes {
            Arity::Exactly(number) => arguments == number,
            Arity::AndSeed(number) => arguments == number || arguments == number + 1,
            Arity::Some if arguments == 0 => return Err(format!("at least one argument expected ({name})")),
            Arity::Some if arguments > max => {
                return Err(format!("too many function arguments, maximum is {max} ({name})"));
            }
            Arity::Some => true,
        };
        if fits {
            Ok(takes == Arity::AndSeed(arguments))
        } else {
            Err(format!("unexpected number of arguments ({name})"))
        }
    }
}
