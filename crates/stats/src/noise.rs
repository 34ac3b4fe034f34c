//! How far the windows of a run stray by chance, though one window resembles the next.

use alloc::vec::Vec;

use libm::sqrt;

/// The standard deviation that the mean of n windows has, times √n: that of a window, widened by how much windows resemble
/// their neighbours. Of residuals about a fit with so many `fitted` parameters.
///
/// As a first-order autoregression has it, at three scales, of which the largest counts: single windows tell fast noise, batches
/// of 4 and of 16 tell slow noise beneath it.
pub(crate) fn long_run_deviation(residuals: &[f64], fitted: usize) -> f64 {
    let mut scaled: Vec<f64> = residuals.to_vec();
    let mut largest = 0.0f64;
    let mut size = 1.0;
    loop {
        largest = largest.max(sqrt(size) * autoregressive_deviation(&scaled, fitted));
        scaled = scaled.chunks_exact(4).map(|batch| batch.iter().sum::<f64>() / 4.0).collect();
        size *= 4.0;
        if scaled.len() < 10 || size > 16.0 {
            return largest;
        }
    }
}

fn autoregressive_deviation(residuals: &[f64], fitted: usize) -> f64 {
    let count = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if squares <= 0.0 || residuals.len() <= fitted + 1 {
        return 0.0;
    }
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let lag_one = products / squares;
    // Fitting takes resemblance away: this much of it is given back.
    let resemblance =
        (lag_one + (fitted as f64 + (fitted as f64 + 2.0) * lag_one) / count).clamp(0.0, RESEMBLANCE_MAX);
    let variance = squares / (count - fitted as f64);
    let widening = (1.0 + resemblance) / (1.0 - resemblance);
    // As many windows as this, without resemblance, tell as much; few tell a spread badly.
    let worth = count / widening;
    sqrt(variance * widening) * (1.0 + SMALL / worth)
}

/// Beyond it a series is so slow that its length tells nothing about its noise.
const RESEMBLANCE_MAX: f64 = 0.99;
/// How much wider noise is taken for each window that a series is worth less.
const SMALL: f64 = 4.0;
