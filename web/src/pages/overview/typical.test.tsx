// The typical delivery time is as exact as the service knows it.
import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Schemas } from '@/api/client';
import { show } from '@/testing/render';
import { Figures } from './Figures';
import { classOf } from './typical';

afterEach(cleanup);

// The service has the same limits (kTookUpToSeconds).
const LIMITS = [
  ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400],
  ...[172_800, 259_200, 432_000, 604_800, 1_209_600, 2_592_000, null],
];
const buckets = LIMITS.map((upToSeconds) => ({ upToSeconds, count: 0 }));

test.each([
  [0, 'under 1 s'],
  [500, 'under 1 s'],
  [1_500, '1–2 s'],
  [45_000, '30–60 s'],
  [60_000, '30–60 s'],
  [60_001, '1–2 min'],
  [2_700_000, '30–60 min'],
  [5_400_000, '1–2 h'],
  [64_800_000, '12–24 h'],
  [100_000_000, '1–2 d'],
  [2_000_000_000, '14–30 d'],
  [2_592_000_000, 'over 30 d'],
])('%d ms is given as its class: %s', (ms, text) => expect(classOf(ms, buckets)).toBe(text));

const figures = async (p50Ms: number | null, ownP50Ms: number | null) => {
  const seen = {
    today: { completed: 1, failed: 0, usualCompleted: null, usualFailed: null },
    now: { waiting: 0, oldestWaitingAt: null },
  } as Schemas['Overview'];
  const read = { data: { p50Ms, ownP50Ms, buckets } } as Parameters<typeof Figures>[0]['durations'];
  await show(<Figures seen={seen} store={undefined} durations={read} />);
  return (await screen.findByText('Typical delivery time')).nextElementSibling?.textContent;
};

test.each([
  [45_000, 45_000, '30–60 sBuyers accepted at once'],
  [5_400_000, 3_500, '1–2 h2–5 s without waits for buyers, failures and reviews'],
  [45_000, null, '30–60 sBuyers accepted at once'],
  [null, null, '–None completed in this time'],
])('the figure for %s ms, of which %s ours', async (whole, own, text) => {
  expect(await figures(whole, own)).toBe(text);
});
