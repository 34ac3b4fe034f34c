//! Arithmetic: 64-bit integers with overflow errors, and doubles.

use super::Function;
use crate::script::value::Value;

type Result<T> = std::result::Result<T, String>;

/// Evaluates sums, products, and comparisons. Uses doubles if an operand is a double, except for a remainder.
pub(super) fn binary(function: Function, left: Value, right: Value) -> Result<Value> {
    let is_double = matches!(left, Value::Double(_)) || matches!(right, Value::Double(_));
    if is_double && function != Function::Modulo {
        return Ok(of_doubles(function, left.double()?, right.double()?));
    }
    of_ints(function, left.int()?, right.int()?)
}

fn of_doubles(function: Function, left: f64, right: f64) -> Value {
    match function {
        Function::Add => Value::Double(left + right),
        Function::Subtract => Value::Double(left - right),
        Function::Multiply => Value::Double(left * right),
        Function::Divide => Value::Double(left / right),
        Function::Equal => Value::Boolean(left == right),
        Function::Unequal => Value::Boolean(left != right),
        Function::Less => Value::Boolean(left < right),
        _ => Value::Boolean(left <= right),
    }
}

fn of_ints(function: Function, left: i64, right: i64) -> Result<Value> {
    let whole = |value: Option<i64>, name: &str| match value {
        Some(value) => Ok(Value::Int(value)),
        None => Err(format!("bigint {name} out of range")),
    };
    match function {
        Function::Add => whole(left.checked_add(right), "add"),
        Function::Subtract => whole(left.checked_sub(right), "sub"),
        Function::Multiply => whole(left.checked_mul(right), "mul"),
        Function::Divide | Function::Modulo if right == 0 => Err("division by zero".to_owned()),
        Function::Divide => whole(left.checked_div(right), "div"),
        Function::Modulo => Ok(Value::Int(left.wrapping_rem(right))),
        Function::Equal => Ok(Value::Boolean(left == right)),
        Function::Unequal => Ok(Value::Boolean(left != right)),
        Function::Less => Ok(Value::Boolean(left < right)),
        _ => Ok(Value::Boolean(left <= right)),
    }
}

/// Evaluates bitwise operators on integers. Shift counts are modulo 64, as on processors.
pub(super) fn bits(function: Function, left: Value, right: Value) -> Result<Value> {
    let (left, right) = (left.int()?, right.int()?);
    Ok(Value::Int(match function {
        Function::BitAnd => left & right,
        Function::BitOr => left | right,
        Function::BitXor => left ^ right,
        Function::ShiftLeft => left.wrapping_shl(right as u32),
        _ => left.wrapping_shr(right as u32),
    }))
}

/// Evaluates functions of one number.
pub(super) fn unary(function: Function, value: Value) -> Result<Value> {
    Ok(match function {
        Function::Abs => match value {
            Value::Int(value) => Value::Int(value.wrapping_abs()),
            other => Value::Double(other.double()?.abs()),
        },
        Function::Int => Value::Int(value.int()?),
        Function::Sqrt => Value::Double(value.double()?.sqrt()),
        Function::Ln => Value::Double(value.double()?.ln()),
        Function::Exp => Value::Double(value.double()?.exp()),
        _ => Value::Double(value.double()?),
    })
}

/// Evaluates `least` and `greatest`. Uses doubles if any argument is a double.
pub(super) fn extreme(function: Function, values: &[Value]) -> Result<Value> {
    let is_least = function == Function::Least;
    if values.iter().any(|value| matches!(value, Value::Double(_))) {
        let mut found = None;
        for value in values {
            let value = value.double()?;
            let is_better = |best: f64| if is_least { best < value } else { best > value };
            found = Some(found.filter(|best| is_better(*best)).unwrap_or(value));
        }
        return Ok(found.map_or(Value::Null, Value::Double));
    }
    let mut found = None;
    for value in values {
        let value = value.int()?;
        found =
            Some(found.map_or(value, |best: i64| if is_least { best.min(value) } else { best.max(value) }));
    }
    Ok(found.map_or(Value::Null, Value::Int))
}
