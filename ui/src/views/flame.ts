/** Call trees as rows of boxes: callers above, what they call below, as wide as their samples. */

import type { CpuProfile, CpuProfiles } from '../report';

export type Kind = 'process' | 'own' | 'library' | 'kernel' | 'rest';

export interface Call {
  name: string;
  module: string;
  kind: Kind;
  /** 0 for processes. */
  depth: number;
  /** Index of the caller; -1 for processes. */
  caller: number;
  /** Samples that ended here, and all below it. */
  own: number;
  total: number;
  /** Samples left of it. */
  start: number;
  /** The index after its last descendant. */
  end: number;
}

const KINDS: Kind[] = ['process', 'library', 'kernel'];
const REST = '[other functions]';
/** The kernel cuts the name of a process there. */
const PROCESS_CHARACTERS = 15;

/** The calls of a profile, each after its caller. */
export function callsOf({ frames }: CpuProfiles, { calls }: CpuProfile): Call[] {
  const all: Call[] = [];
  /** The open call of each depth. */
  const path: number[] = [];
  calls.forEach(([depth, frame, own], index) => {
    const [name, module, kind] = frames[frame] ?? ['', '', 1];
    const caller = depth === 0 ? -1 : (path[depth - 1] ?? -1);
    path.length = depth;
    path.push(index);
    const process = all[path[0] ?? -1]?.name ?? '';
    all.push({
      name,
      module,
      kind: kindOf(name, module, KINDS[kind] ?? 'library', process),
      depth,
      caller,
      own,
      total: own,
      start: 0,
      end: index + 1,
    });
  });
  for (const call of all.toReversed()) {
    const caller = all[call.caller];
    if (!caller) continue;
    caller.total += call.total;
    caller.end = Math.max(caller.end, call.end);
  }
  place(all);
  return all;
}

function place(all: Call[]): void {
  /** Where the next call of each depth begins. */
  const next: number[] = [0];
  for (const call of all) {
    call.start = next[call.depth] ?? 0;
    next[call.depth] = call.start + call.total;
    next[call.depth + 1] = call.start;
  }
}

function kindOf(name: string, module: string, kind: Kind, process: string): Kind {
  if (kind !== 'library') return kind;
  if (module === '' && name === REST) return 'rest';
  const isCut = process.length === PROCESS_CHARACTERS && module.startsWith(process);
  return module === process || isCut ? 'own' : kind;
}

export interface Box {
  index: number;
  call: Call;
  /** In pixels. */
  x: number;
  width: number;
}

/** Narrower boxes are not drawn. */
const NARROWEST = 1;

/** What is drawn when zoomed to a call, or to everything (-1): the call and its callers in full width, and all below it. */
export function boxes(all: Call[], zoom: number, width: number): Box[] {
  const center = all[zoom];
  const samples = all.reduce((sum, call) => sum + (call.depth === 0 ? call.total : 0), 0);
  const [from, total] = center ? [center.start, center.total] : [0, samples];
  if (total === 0) return [];
  const scale = width / total;
  const callers = new Set<number>();
  for (let index = zoom; index >= 0; index = all[index]?.caller ?? -1) callers.add(index);
  return all.flatMap((call, index) => {
    if (callers.has(index)) return [{ index, call, x: 0, width }];
    if (center && (index < zoom || index >= center.end)) return [];
    const box = { index, call, x: (call.start - from) * scale, width: call.total * scale };
    return box.width >= NARROWEST ? [box] : [];
  });
}

/** The index of the box that an arrow key leads to. */
export function neighbor(drawn: Box[], from: number, key: string): number {
  const at = drawn.find(({ index }) => index === from);
  if (!at) return from;
  const same = drawn.filter(({ call }) => call.depth === at.call.depth);
  const place = same.indexOf(at);
  const below = drawn.filter(({ call }) => call.caller === from);
  const widest = below.toSorted((one, other) => other.width - one.width)[0];
  switch (key) {
    case 'ArrowUp':
      return at.call.caller >= 0 ? at.call.caller : from;
    case 'ArrowDown':
      return widest?.index ?? from;
    case 'ArrowLeft':
      return same[place - 1]?.index ?? from;
    case 'ArrowRight':
      return same[place + 1]?.index ?? from;
    case 'Home':
      return drawn[0]?.index ?? from;
    default:
      return from;
  }
}

/** Calls whose function or file contains the text, and the samples in and below them, each counted once. */
export function found(all: Call[], text: string): { matches: Set<number>; samples: number } {
  const matches = new Set<number>();
  let [samples, end] = [0, 0];
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return { matches, samples };
  all.forEach((call, index) => {
    if (!call.name.toLowerCase().includes(wanted) && !call.module.toLowerCase().includes(wanted)) return;
    matches.add(index);
    if (index < end) return;
    samples += call.total;
    ({ end } = call);
  });
  return { matches, samples };
}
