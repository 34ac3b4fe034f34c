import { afterEach, expect, it, vi } from 'vitest';
import { h } from './dom';
import { guarded } from './guarded';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('returns what the function makes', () => {
  const part = h('p', {}, 'fine');
  expect(guarded(() => part)).toBe(part);
  expect(guarded(() => null)).toBeNull();
});

it('shows a failure where the section would be, and reports it to the browser', () => {
  const reported = vi.fn();
  vi.stubGlobal('reportError', reported);
  const error = new Error('<b>no scale</b>');
  const part = guarded(() => {
    throw error;
  });
  expect(part?.textContent).toContain('<b>no scale</b>');
  expect(part?.getAttribute('role')).toBe('alert');
  expect(reported).toHaveBeenCalledWith(error);
});
