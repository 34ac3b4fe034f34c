//! Long-run noise of the windows of a run, which takes the autocorrelation of neighboring windows into account.

use alloc::vec::Vec;

use libm::sqrt;

/// Returns the long-run standard deviation: √n times the standard error of the mean of n windows. It is the deviation of a window, widened
/// by the autocorrelation of windows. `residuals` are around a fit with `fitted` parameters.
///
/// Assumes a first-order autoregression at three scales, and returns the largest result: single windows show fast noise, batches of
/// 4 and of 16 windows show slow noise beneath it.
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
    // Corrects the downward bias of the autocorrelation that the fit causes.
    let resemblance =
        (lag_one + (fitted as f64 + (fitted as f64 + 2.0) * lag_one) / count).clamp(0.0, AUTOCORRELATION_MAX);
    let variance = squares / (count - fitted as f64);
    let widening = (1.0 + resemblance) / (1.0 - resemblance);
    // Effective number of independent windows. A small number estimates a spread poorly.
    let worth = count / widening;
    sqrt(variance * widening) * (1.0 + SMALL / worth)
}

/// Upper bound of the lag-one autocorrelation. Beyond it, the series is too short to estimate its noise.
const AUTOCORRELATION_MAX: f64 = 0.99;
/// Widening of the deviation divided by the effective number of windows.
const SMALL: f64 = 4.0;
