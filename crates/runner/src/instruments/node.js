// Loaded into a Node program in an instrumented run: samples its CPU time, and writes self times of functions every two seconds. Each
// start of the profiler visits all code, so it does not start more often.
'use strict';
const folder = process.env.TENBIN_INSTRUMENTS;
const threads = require('worker_threads');
if (folder) {
  const fs = require('fs');
  const path = require('path');
  const inspector = require('inspector');
  const file = path.join(folder, `${process.pid}-${threads.threadId}.lines`);
  const session = new inspector.Session();
  const MOST = 12;
  const EVERY_MS = 2000;
  const SAMPLE_US = 5000;
  const named = (frame) => {
    const name = frame.functionName || '(anonymous)';
    const place = frame.url ? ` ${path.basename(frame.url)}:${frame.lineNumber + 1}` : '';
    return name + place;
  };
  const write = (profile) => {
    const names = new Map(profile.nodes.map((node) => [node.id, named(node.callFrame)]));
    const spent = new Map();
    profile.samples.forEach((id, at) => {
      const name = names.get(id);
      spent.set(name, (spent.get(name) || 0) + (profile.timeDeltas[at] || 0) / 1e6);
    });
    const lines = [];
    const collected = spent.get('(garbage collector)') || 0;
    lines.push(`runtime_gc_s\t\t${collected}`);
    // The native function `dispatch` is that of the profiler itself.
    for (const other of ['(garbage collector)', '(idle)', '(root)', 'dispatch']) spent.delete(other);
    const all = [...spent].sort((one, other) => other[1] - one[1]);
    let rest = 0;
    all.slice(MOST).forEach(([, seconds]) => { rest += seconds; });
    all.slice(0, MOST).forEach(([name, seconds]) => lines.push(`runtime_function_s\t${name}\t${seconds}`));
    lines.push(`runtime_function_s\t(others)\t${rest}`);
    fs.appendFileSync(file, lines.join('\n') + '\n');
  };
  const start = () => session.post('Profiler.start');
  try {
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
    start();
    setInterval(() => {
      session.post('Profiler.stop', (error, result) => {
        if (!error && result.profile.samples) {
          try { write(result.profile); } catch (failed) { /* The folder is gone with the run. */ }
        }
        start();
      });
    }, EVERY_MS).unref();
  } catch (failed) {
    // Another profiler is connected.
  }
}
