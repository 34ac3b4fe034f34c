/** Runs work that can wait, one task at a time, while the browser is idle. */

const waiting = new Set<() => void>();
let isScheduled = false;

/** Longer than this, no task waits for an idle browser. */
const TIMEOUT_MS = 200;

/** Queues the task unless it is queued already. */
export function whenIdle(task: () => void): void {
  waiting.add(task);
  schedule();
}

function schedule(): void {
  if (isScheduled || waiting.size === 0) return;
  isScheduled = true;
  // Safari has no requestIdleCallback.
  if ('requestIdleCallback' in window) window.requestIdleCallback(runNext, { timeout: TIMEOUT_MS });
  else setTimeout(runNext);
}

function runNext(): void {
  isScheduled = false;
  const [task] = waiting;
  if (task) {
    waiting.delete(task);
    task();
  }
  schedule();
}
