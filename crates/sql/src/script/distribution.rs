//! Distribution of `random_row`: which rows a run accesses most.

/// Distribution of `random_row(min, max)`, with the parameters of sysbench.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform over all rows.
    #[default]
    Uniform,
    /// Zipf: the probability of the k-th row is proportional to k^−exponent (above 0, at most 1000; sysbench's default is 0.8).
    Zipf(f64),
    /// Self-similar: a share of `1 − h` of all draws goes to the first share `h` of the rows, and so on recursively (0 < h < 1;
    /// sysbench's default is 0.2).
    Pareto(f64),
    /// sysbench's `special`: three of four draws go to the hundredth of the rows around the median, the others are bell-shaped over
    /// all rows.
    Special,
}
