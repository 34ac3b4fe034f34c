/** Moves labels on an axis apart so that they do not overlap, each as little as possible. */

/** New positions at least `gap` apart, in the order of the input; null for those that do not fit. */
export function avoidOverlap(
  indexes: readonly number[],
  gap: number,
  low: number,
  high: number,
): (number | null)[] {
  const room = Math.max(1, Math.floor((high - low) / gap) + 1);
  const order = indexes.map((_, entry) => entry).sort((a, b) => (indexes[a] ?? 0) - (indexes[b] ?? 0));
  const result: (number | null)[] = indexes.map(() => null);
  const kept = order.slice(0, room);
  let free = low;
  for (const entry of kept) {
    const at = Math.max(free, indexes[entry] ?? low);
    result[entry] = at;
    free = at + gap;
  }
  // Positions beyond the end move back, and move the ones before them.
  let limit = high;
  for (const entry of kept.toReversed()) {
    const at = Math.min(limit, result[entry] ?? high);
    result[entry] = at;
    limit = at - gap;
  }
  return result;
}
