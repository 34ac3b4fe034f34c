//! Which rows a run reads most: the distribution behind `random_row`.

/// How `random_row(min, max)` draws. The parameters are those of sysbench.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Every row alike.
    #[default]
    Uniform,
    /// The k-th row with a probability proportional to k to the power of minus this (above 0, at most 1000; sysbench's is 0.8).
    Zipf(f64),
    /// Self-similar: a share of `1 − h` of all draws goes to the first share `h` of the rows, and so on within them
    /// (0 < h < 1; sysbench's is 0.2).
    Pareto(f64),
    /// sysbench's own: three of four draws go to a hundredth of the rows around the median, the rest are bell-shaped over all.
    Special,
}
