/** Holds back the `load` event of the page. */

/** Longest time that the event is held back. */
const MAX_MS = 20_000;

/**
 * Holds back the `load` event until the returned function is called, also from a script that runs while the page is parsed.
 * Programs that capture or print a page wait for this event, and so get every chart.
 *
 * An open document in a frame is the only way that needs no network.
 */
export function holdLoad(): () => void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  document.body.append(frame);
  frame.contentDocument?.open();
  const release = (): void => {
    frame.contentDocument?.close();
    frame.remove();
  };
  setTimeout(release, MAX_MS);
  return release;
}
