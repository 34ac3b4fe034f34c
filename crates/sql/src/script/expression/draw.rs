//! Random functions, which validate bounds and parameters before they draw.

use load::xoroshiro::Xoroshiro;

use super::Function;
use crate::script::distribution::Distribution;
use crate::script::number_text::fixed;
use crate::script::random;
use crate::script::value::Value;

type Result<T> = std::result::Result<T, String>;

/// Draws a number between the first two arguments.
pub(super) fn number(
    function: Function,
    arguments: &[Value],
    random: &mut Xoroshiro,
    distribution: Distribution,
) -> Result<Value> {
    let [min, max, rest @ ..] = arguments else { return Err("unexpected number of arguments".to_owned()) };
    let (min, max) = (min.int()?, max.int()?);
    if min > max {
        return Err("empty range given to random".to_owned());
    }
    if max.checked_sub(min).and_then(|span| span.checked_add(1)).is_none() {
        return Err("random range is too large".to_owned());
    }
    let parameter = || rest.first().map_or(Ok(0.0), |value| value.double());
    Ok(Value::Int(match function {
        Function::Random => random::uniform(random, min, max),
        Function::RandomGaussian => random::gaussian(random, min, max, gaussian_parameter(parameter()?)?),
        Function::RandomExponential => {
            random::exponential(random, min, max, exponential_parameter(parameter()?)?)
        }
        Function::RandomZipfian => random::zipfian(random, min, max, exponent(parameter()?)?),
        Function::RandomPareto => random::pareto(random, min, max, share(parameter()?)?),
        Function::RandomSpecial => random::special(random, min, max),
        _ => match distribution {
            Distribution::Uniform => random::uniform(random, min, max),
            Distribution::Zipf(value) => random::zipf(random, min, max, run_exponent(value)?),
            Distribution::Pareto(value) => random::pareto(random, min, max, share(value)?),
            Distribution::Special => random::special(random, min, max),
        },
    }))
}

fn gaussian_parameter(value: f64) -> Result<f64> {
    let message = || format!("gaussian parameter must be at least 2.000000 (not {})", fixed(value));
    if value >= 2.0 { Ok(value) } else { Err(message()) }
}

fn exponential_parameter(value: f64) -> Result<f64> {
    let message = || format!("exponential parameter must be greater than zero (not {})", fixed(value));
    if value > 0.0 { Ok(value) } else { Err(message()) }
}

fn exponent(value: f64) -> Result<f64> {
    let message = || format!("zipfian parameter must be in range [1.001, 1000] (not {})", fixed(value));
    if (1.001..=1000.0).contains(&value) { Ok(value) } else { Err(message()) }
}

/// Validates the exponent of the run's distribution, which has a wider range than in pgbench.
fn run_exponent(value: f64) -> Result<f64> {
    let message =
        || format!("exponent of Zipf's law must be above 0 and at most 1000 (not {})", fixed(value));
    if value > 0.0 && value <= 1000.0 { Ok(value) } else { Err(message()) }
}

fn share(value: f64) -> Result<f64> {
    let message = || format!("pareto parameter must be between 0 and 1 (not {})", fixed(value));
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(message()) }
}
