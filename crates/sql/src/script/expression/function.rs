//! Functions of expressions, with their names and numbers of arguments.

use crate::script::deck::Language;

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
enum Takes {
    Exactly(usize),
    /// One or more.
    Some,
    /// A fixed number plus an optional seed, which defaults to `default_seed`.
    AndSeed(usize),
}

/// Maximum number of arguments, as in pgbench.
const ARGUMENTS_MAX: usize = 16;
/// Maximum number of arguments of a text function, which an instruction stores in a byte.
const TEXT_ARGUMENTS_MAX: usize = 255;

type Entry = (&'static str, Takes, Function);

const PGBENCH: &[Entry] = &[
    ("mod", Takes::Exactly(2), Function::Modulo),
    ("abs", Takes::Exactly(1), Function::Abs),
    ("least", Takes::Some, Function::Least),
    ("greatest", Takes::Some, Function::Greatest),
    ("debug", Takes::Exactly(1), Function::Debug),
    ("pi", Takes::Exactly(0), Function::Pi),
    ("sqrt", Takes::Exactly(1), Function::Sqrt),
    ("ln", Takes::Exactly(1), Function::Ln),
    ("exp", Takes::Exactly(1), Function::Exp),
    ("int", Takes::Exactly(1), Function::Int),
    ("double", Takes::Exactly(1), Function::Double),
    ("pow", Takes::Exactly(2), Function::Power),
    ("power", Takes::Exactly(2), Function::Power),
    ("random", Takes::Exactly(2), Function::Random),
    ("random_gaussian", Takes::Exactly(3), Function::RandomGaussian),
    ("random_exponential", Takes::Exactly(3), Function::RandomExponential),
    ("random_zipfian", Takes::Exactly(3), Function::RandomZipfian),
    ("hash", Takes::AndSeed(1), Function::HashMurmur2),
    ("hash_murmur2", Takes::AndSeed(1), Function::HashMurmur2),
    ("hash_fnv1a", Takes::AndSeed(1), Function::HashFnv1a),
    ("permute", Takes::AndSeed(2), Function::Permute),
];

const EXTENDED: &[Entry] = &[
    ("concat", Takes::Some, Function::Concat),
    ("digits", Takes::Exactly(1), Function::Digits),
    ("random_special", Takes::Exactly(2), Function::RandomSpecial),
    ("random_pareto", Takes::Exactly(3), Function::RandomPareto),
    ("random_row", Takes::Exactly(2), Function::RandomRow),
    ("serial", Takes::Exactly(0), Function::Serial),
];

/// A function by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named(Entry);

impl Named {
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
            Takes::Exactly(number) => arguments == number,
            Takes::AndSeed(number) => arguments == number || arguments == number + 1,
            Takes::Some if arguments == 0 => return Err(format!("at least one argument expected ({name})")),
            Takes::Some if arguments > max => {
                return Err(format!("too many function arguments, maximum is {max} ({name})"));
            }
            Takes::Some => true,
        };
        if fits {
            Ok(takes == Takes::AndSeed(arguments))
        } else {
            Err(format!("unexpected number of arguments ({name})"))
        }
    }
}
