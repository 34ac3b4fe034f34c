import { afterEach, expect, it, vi } from 'vitest';
import { h } from './dom';
import { sound } from './broken';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('lets sound parts through', () => {
  const part = h('p', {}, 'all is well');
  expect(sound(() => part)).toBe(part);
  expect(sound(() => null)).toBeNull();
});

it('says in its place that a part failed, and to the browser', () => {
  const told = vi.fn();
  vi.stubGlobal('reportError', told);
  const error = new Error('<b>no scale</b>');
  const part = sound(() => {
    throw error;
  });
  expect(part?.textContent).toContain('<b>no scale</b>');
  expect(part?.getAttribute('role')).toBe('alert');
  expect(told).toHaveBeenCalledWith(error);
});
