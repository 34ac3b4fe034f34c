/** Runs work that can wait while the browser is idle. */

const waiting = new Set<() => void>();
const afterwards: (() => void)[] = [];
let isScheduled = false;

/** Longer than this, no task waits for an idle browser. */
const TIMEOUT_MS = 200;

/** Queues the task unless it is queued already. */
export function whenIdle(task: () => void): void {
  waiting.add(task);
  schedule();
}

/** Calls back once no task is queued. */
export function whenNoneWaits(then: () => void): void {
  afterwards.push(then);
  if (waiting.size === 0) callBack();
}

function callBack(): void {
  for (const then of afterwards.splice(0)) then();
}

function schedule(): void {
  if (isScheduled || waiting.size === 0) return;
  isScheduled = true;
  // Safari has no requestIdleCallback.
  if ('requestIdleCallback' in window) window.requestIdleCallback(run, { timeout: TIMEOUT_MS });
  else setTimeout(run);
}

/** Runs tasks until the idle time is used up, but one at least. */
function run(deadline?: IdleDeadline): void {
  isScheduled = false;
  do {
    const [task] = waiting;
    if (!task) break;
    waiting.delete(task);
    task();
  } while ((deadline?.timeRemaining() ?? 0) > 0);
  if (waiting.size === 0) callBack();
  schedule();
}
