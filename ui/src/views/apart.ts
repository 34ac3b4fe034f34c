/** Moves words on an axis apart so that none covers another, each as near to its place as that allows. */

/** New places at least `gap` apart, in the given order of entries; null for those that have no room. */
export function apart(places: readonly number[], gap: number, low: number, high: number): (number | null)[] {
  const room = Math.max(1, Math.floor((high - low) / gap) + 1);
  const order = places.map((_, entry) => entry).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const result: (number | null)[] = places.map(() => null);
  const kept = order.slice(0, room);
  let free = low;
  for (const entry of kept) {
    const at = Math.max(free, places[entry] ?? low);
    result[entry] = at;
    free = at + gap;
  }
  // Those that were pushed beyond the end go back, and push the ones before them.
  let limit = high;
  for (const entry of kept.toReversed()) {
    const at = Math.min(limit, result[entry] ?? high);
    result[entry] = at;
    limit = at - gap;
  }
  return result;
}
