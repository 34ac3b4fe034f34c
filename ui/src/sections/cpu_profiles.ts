/** Where CPU time goes: a flame graph of a variant, or of how it differs from another one. */

import type { CpuDifference, CpuProfile, CpuProfiles, Load, Report } from '../report';
import { card } from '../card';
import { choice } from '../charts/choice';
import { flameChart } from '../charts/flame';
import { legend } from '../charts/legend';
import { append, h, s } from '../dom';
import { count, decimal, formatValue } from '../format';
import type { Numbers } from '../numbers';
import { callsOf, found, type Call } from '../views/flame';

/** What is drawn. */
interface View {
  profile: CpuProfile;
  difference: CpuDifference | null;
  calls: Call[];
  zoom: number;
  focus: number;
  search: string;
}

/** From this share of the CPU time per request on, a difference is large. */
const LARGE = 0.05;

export function cpuProfiles(report: Report, load: Load): HTMLElement | null {
  const cpu = load.cpu_profiles ?? null;
  const [first] = cpu?.profiles ?? [];
  if (cpu === null || !first) return null;
  const options = optionsOf(load, cpu);
  const view: View = { ...viewOf(cpu, options[0]?.key ?? ''), zoom: -1, focus: -1, search: '' };
  const drawing = h('div', { class: 'flame-drawing' });
  let width = 0;
  const paint = (isFocused = false): void => {
    const move = (zoom: number): void => {
      view.zoom = zoom;
      view.focus = zoom;
      paint(true);
    };
    drawing.replaceChildren(...painted(load, cpu, view, width, move));
    out.disabled = view.zoom < 0;
    if (isFocused) drawing.querySelector<SVGElement>('.call[tabindex="0"]')?.focus();
  };
  const select = choice('Show', options, options[0]?.key ?? '', (key) => {
    Object.assign(view, viewOf(cpu, key), { zoom: -1, focus: -1 });
    paint();
  });
  const search = h('input', {
    type: 'search',
    'aria-label': 'Search functions',
    placeholder: 'Search functions',
  });
  search.addEventListener('input', () => {
    view.search = search.value;
    paint();
  });
  const out = h('button', { type: 'button', class: 'zoom-out', disabled: true }, 'Zoom out');
  out.addEventListener('click', () => {
    view.zoom = -1;
    paint();
  });
  const at = report.loads.indexOf(load);
  return card({
    id: at === 0 ? 'cpu-time-by-function' : `cpu-time-by-function-${at + 1}`,
    title: 'CPU time by function',
    about: `Width: share of the samples, functions below their callers · ${sampleWords(cpu)}`,
    help: 'Select a function to zoom in: by click, or with the arrow keys and Enter. Escape zooms out.',
    controls: [...(options.length > 1 ? [select] : []), search, out],
    draw: (host, now) => {
      width = now;
      append(host, drawing);
      paint();
    },
    numbers: () => numbersOf(load, cpu),
  });
}

/** Differences come first: a study compares. */
function optionsOf(load: Load, { profiles, differences }: CpuProfiles): { key: string; words: string }[] {
  const name = (row: number): string => load.rows[row]?.name ?? '';
  const pairs = differences.map(({ row, from }, index) => ({
    key: `difference ${index}`,
    words: `${name(row)}: difference from ${name(from)}`,
  }));
  const alone = profiles.map(({ row }, index) => ({ key: `profile ${index}`, words: name(row) }));
  return [...pairs, ...alone];
}

function viewOf(cpu: CpuProfiles, key: string): Pick<View, 'profile' | 'difference' | 'calls'> {
  const [kind, index] = key.split(' ');
  const difference = kind === 'difference' ? (cpu.differences[Number(index)] ?? null) : null;
  const profile =
    difference === null
      ? cpu.profiles[Number(index)]
      : cpu.profiles.find(({ row }) => row === difference.row);
  if (!profile) throw new Error('no such profile');
  return { profile, difference, calls: callsOf(cpu, profile) };
}

function sampleWords({ profiles }: CpuProfiles): string {
  const samples = profiles.reduce((sum, profile) => sum + profile.samples, 0);
  const runs = profiles.reduce((sum, profile) => sum + profile.runs, 0);
  return `n = ${count(samples)} samples in ${runs} ${runs === 1 ? 'run' : 'runs'}`;
}

function painted(
  load: Load,
  cpu: CpuProfiles,
  view: View,
  width: number,
  zoomTo: (index: number) => void,
): Node[] {
  const { profile, difference, calls } = view;
  const doubts = profile.doubts.map((text) => h('p', { class: 'about doubt' }, text));
  const ofRow = `${count(profile.samples)} samples in ${profile.runs} ${profile.runs === 1 ? 'run' : 'runs'}`;
  const us =
    profile.us_per_request === null
      ? ''
      : `, ${formatValue(profile.us_per_request, 'us')} of CPU time per request`;
  const head = h(
    'p',
    { class: 'flame-head' },
    difference?.sentence ?? `${load.rows[profile.row]?.name ?? ''}: ${ofRow}${us}`,
  );
  if (calls.length === 0) return [head, ...doubts];
  const search = found(calls, view.search);
  const isSearching = view.search.trim() !== '';
  const parts = { load, cpu, profile, difference };
  const svg = flameChart({
    calls,
    title: difference === null ? 'CPU time by function' : 'Difference in CPU time by function',
    width,
    zoom: view.zoom,
    focus: view.focus,
    matches: isSearching ? search.matches : null,
    color: (call, index) => colorOf(parts, call, index),
    text: (call, index) => `${signOf(difference, index)}${call.name}`,
    lines: (call, index) => linesOf(parts, call, index),
    zoomTo,
    moveTo: (index) => {
      view.focus = index;
    },
  });
  const share = percent(search.samples / profile.samples);
  const hits =
    search.matches.size === 0 ? 'No function matches.' : `${share} of the samples in functions that match.`;
  return [
    head,
    ...doubts,
    difference === null ? kindKey() : differenceKey(load, difference),
    h('p', { class: 'about', role: 'status' }, isSearching ? hits : ''),
    svg,
    h('p', { class: 'about' }, leftOut(load, cpu, view)),
  ];
}

interface Parts {
  load: Load;
  cpu: CpuProfiles;
  profile: CpuProfile;
  difference: CpuDifference | null;
}

function moreOf(difference: CpuDifference | null, index: number): number {
  return difference?.more_us[index] ?? 0;
}

function signOf(difference: CpuDifference | null, index: number): string {
  const more = moreOf(difference, index);
  return more === 0 ? '' : more > 0 ? '+ ' : '− ';
}

function colorOf({ cpu, profile, difference }: Parts, call: Call, index: number): string {
  if (difference === null) return `flame-${call.kind}`;
  const more = moreOf(difference, index);
  if (more === 0) return 'flame-same';
  const other = cpu.profiles.find(({ row }) => row === difference.from)?.us_per_request ?? 0;
  const isLarge = Math.abs(more) >= LARGE * Math.max(profile.us_per_request ?? 0, other);
  return `${more > 0 ? 'flame-more' : 'flame-less'}${isLarge ? ' large' : ''}`;
}

const SPACES: Record<Call['kind'], string> = {
  process: 'process',
  own: 'own program',
  library: 'library',
  kernel: 'kernel',
  rest: 'functions below the limit',
};

function linesOf({ load, profile, difference }: Parts, call: Call, index: number): string[] {
  const { samples, us_per_request: us } = profile;
  const part = (some: number): string => {
    const time = us === null ? '' : `, ${formatValue((some / samples) * us, 'us')} per request`;
    return `${percent(some / samples)}${time} (n = ${count(some)})`;
  };
  const space = SPACES[call.kind];
  const lines = [
    call.name,
    call.module === '' || call.module === space ? space : `${space}: ${call.module}`,
    `total ${part(call.total)}`,
    `self ${part(call.own)}`,
  ];
  if (difference !== null && call.kind !== 'rest') {
    const more = moreOf(difference, index);
    const from = load.rows[difference.from]?.name ?? '';
    lines.push(
      more === 0
        ? `no clear difference from ${from}`
        : `${more > 0 ? '+' : '−'}${formatValue(Math.abs(more), 'us')} per request from ${from}`,
    );
  }
  return lines;
}

function keyOf(entries: [color: string, words: string][]): HTMLElement {
  return legend(
    entries.map(([color, words]) => ({
      sample: [s('g', { class: `call ${color}` }, s('rect', { x: 1, y: 1, width: 20, height: 12, rx: 1.5 }))],
      words,
    })),
  );
}

function kindKey(): HTMLElement {
  return keyOf([
    ['flame-own', 'own program'],
    ['flame-library', 'library'],
    ['flame-kernel', 'kernel'],
  ]);
}

function differenceKey(load: Load, { from }: CpuDifference): HTMLElement {
  const name = load.rows[from]?.name ?? '';
  return keyOf([
    ['flame-more large', `+ more CPU time per request than ${name}`],
    ['flame-less large', '− less'],
    ['flame-more', `paler: by less than ${decimal(LARGE * 100, 0)} % of all`],
    ['flame-same', 'no clear difference'],
  ]);
}

/** What is not drawn. */
function leftOut(load: Load, cpu: CpuProfiles, { profile, difference }: View): string {
  const least = `Functions with less than ${percent(profile.least_share)} of the samples are [other functions] of their caller.`;
  const gone =
    difference === null
      ? ''
      : ` Functions that only ${load.rows[difference.from]?.name ?? ''} has are in its own difference.`;
  const rows = cpu.left_out === 0 ? '' : ` ${cpu.left_out} more profiled variants are in the JSON report.`;
  return `${least}${gone}${rows}`;
}

function percent(share: number): string {
  return `${decimal(share * 100, 1)} %`;
}

function numbersOf(load: Load, cpu: CpuProfiles): Numbers {
  const rows = cpu.profiles.flatMap((profile) =>
    callsOf(cpu, profile).map((call): Numbers['rows'][number] => [
      call.name,
      call.module,
      load.rows[profile.row]?.name ?? '',
      call.depth,
      call.own,
      call.total,
      call.total / profile.samples,
    ]),
  );
  const heads = ['function', 'in', 'variant', 'level', 'self, samples', 'total, samples', 'total, share'];
  return { heads, rows };
}
