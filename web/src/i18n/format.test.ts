import { expect, test } from 'vitest';
import { ago, duration, listed, moment, since, zone, timeLeft, hourOf } from './format';

const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const before = (ms: number) => new Date(NOW - ms).toISOString();
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

test('hours of twelve have no zero before them', () => {
  expect(hourOf('en-US')).toBe('numeric');
  expect(hourOf('de')).toBe('2-digit');
});

test('times in lists', () => {
  expect([0, 59_000, MINUTE, 59 * MINUTE, HOUR, 23 * HOUR, DAY, 6.9 * DAY].map((ms) => ago(before(ms), NOW))).toEqual([
    'now', 'now', '1 min', '59 min', '1 h', '23 h', '1 d', '6 d',
  ]); // prettier-ignore
  expect(ago(before(8 * DAY), NOW)).toBe('15 Nov');
  expect(ago('2025-11-15T12:00:00.000Z', NOW)).toBe('15 Nov 2025');
  expect(ago(before(-5_000), NOW)).toBe('now'); // clocks that differ a little
});

test('times in sentences', () => {
  expect(since(before(2 * HOUR), NOW)).toBe('2 h ago');
  expect(since(before(10_000), NOW)).toBe('just now');
  expect(since(before(9 * DAY), NOW)).toBe('on 14 Nov');
  expect(moment(before(0), NOW)).toMatch(/^Today, /);
  expect(moment(before(DAY), NOW)).toMatch(/^Yesterday, /);
});

test('how long something took', () => {
  expect([0, 0.4, 12, 9_000, 3 * MINUTE, 2 * HOUR, 3 * DAY].map(duration)).toEqual([
    'under 1 ms',
    'under 1 ms',
    '12 ms',
    '9 s',
    '3 min',
    '2 h',
    '3 d',
  ]);
});

test('lists and zones', () => {
  expect(listed(['a', 'b', 'c'])).toBe('a, b, and c');
  expect(zone(new Date())).toMatch(/^UTC([+−]\d+(:\d\d)?)?$/);
});

test('the time that is left counts down in its two largest units', () => {
  const [S, MIN, H, D] = [1000, 60_000, 3_600_000, 86_400_000];
  expect([2 * D + 3 * H, D - MIN, 4 * MIN + 9 * S, 9 * S - 1].map(timeLeft)).toEqual(['2 d 3 h', '23 h 59 min', '4 min 9 s', '9 s']); // prettier-ignore
});
