/** What the page says about how evenly connections were served. */

/** How evenly connections were served. */
export interface Fairness {
  connections: number;
  requests: MinMedianMax;
  response_mean_ms: MinMedianMax | null;
  response_max_ms: MinMedianMax | null;
}

export interface MinMedianMax {
  min: number;
  median: number;
  max: number;
  /** Minimum and maximum as multiples of the median; null if it is too small. */
  relative: [number, number] | null;
}

/** Ranges over connections, as multiples of the median connection of each run. */
export interface RowFairness {
  requests: RelativeRanges | null;
  response_mean_ms: RelativeRanges | null;
  response_max_ms: RelativeRanges | null;
}

export interface RelativeRanges {
  low: number;
  high: number;
  /** The median over runs of the maximum. */
  median_high: number;
}
