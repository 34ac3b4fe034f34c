import { expect, it } from 'vitest';
import type { Track } from '../report';
import { absent } from './absent';

const [ok, failed, rejected] = ['ok', 'failed', 'rejected'].map((key): Track => ({
  key,
  label: key,
  subject: 'load',
})) as [Track, Track, Track];

it('names what is shown of other runs alone', () => {
  expect(absent([ok, failed], [ok, failed])).toBeNull();
  expect(absent([ok, failed, rejected], [ok])).toBe(
    'Not in this run: failed, rejected (zero all the time, or not read).',
  );
});

it('says so once where there is nothing, and nothing of what is hidden', () => {
  expect(absent([ok], [])).toMatch(/^Nothing in this run/);
  expect(absent([ok], [ok, failed])).toBeNull();
  expect(absent([], [])).toMatch(/^Nothing/);
});
