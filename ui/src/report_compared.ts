/** Parts of the input of the page about the comparison of rows, and about further figures. */
import type { Table, Unit } from './report';

export interface CostTable {
  table: Table;
  /** Empty if nothing is compared. */
  legend: string;
}

/** A figure that the plan defines, or a physical cost. */
export interface FurtherMeasure {
  key: string;
  words: string;
  unit: Unit;
  higher_is_better: boolean;
}

/** The comparison of a row with the reference of its load: the baseline, or the best row. */
export interface Compared {
  /** The ratio or difference, or why there is none. */
  text: string;
  verdict: 'reference' | 'better' | 'worse' | 'below' | 'equivalent' | 'inconclusive' | 'none';
}
