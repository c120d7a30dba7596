import { expect, test } from 'vitest';
import { newestRefusal, storeState } from './store';

const refused = (lastAt: string, code = 'INVALID_SIGNATURE') => ({ code, count: 1, lastAt });
const store = (lastOrderAt: string | null, refusals: ReturnType<typeof refused>[] = [], more = {}) => ({
  active: true, archivedAt: null, lastOrderAt, intake: { accepted24h: 0, refused: refusals }, ...more,
}); // prettier-ignore

test('a store refuses orders while its newest one was refused', () => {
  expect(storeState(store(null))).toBe('silent');
  expect(storeState(store('2026-11-23T10:00:00.000Z'))).toBe('receiving');
  expect(storeState(store('2026-11-23T10:00:00.000Z', [refused('2026-11-23T09:00:00.000Z')]))).toBe('receiving');
  expect(storeState(store('2026-11-23T10:00:00.000Z', [refused('2026-11-23T10:01:00.000Z')]))).toBe('refusing');
  expect(storeState(store(null, [refused('2026-11-23T09:00:00.000Z')]))).toBe('refusing');
  expect(storeState(store(null, [], { active: false }))).toBe('off');
  expect(storeState(store(null, [], { archivedAt: '2026-11-23T09:00:00.000Z' }))).toBe('archived');
});

test('of several refusals the newest is told', () => {
  const one = store(null, [
    refused('2026-11-23T09:00:00.000Z'),
    refused('2026-11-23T09:30:00.000Z', 'INVALID_PAYLOAD'),
  ]);
  expect(newestRefusal(one)?.code).toBe('INVALID_PAYLOAD');
});
