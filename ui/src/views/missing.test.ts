import { expect, it } from 'vitest';
import type { Track } from '../report';
import { missingNote } from './missing';

const [ok, failed, rejected] = ['ok', 'failed', 'rejected'].map((key): Track => ({
  key,
  label: key,
  subject: 'load',
})) as [Track, Track, Track];

it('names the shown tracks that only other runs have', () => {
  expect(missingNote([ok, failed], [ok, failed])).toBeNull();
  expect(missingNote([ok, failed, rejected], [ok])).toBe(
    'No data in this run: failed, rejected (always zero, or not measured).',
  );
});

it('prints one note if there is no data, and ignores hidden tracks', () => {
  expect(missingNote([ok], [])).toMatch(/^No data in this run/);
  expect(missingNote([ok], [ok, failed])).toBeNull();
  expect(missingNote([], [])).toMatch(/^No data/);
});
