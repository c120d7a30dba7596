import { expect, test } from 'vitest';
import { newestRefusal, openRefusal, storeState } from './store';

const refused = (lastAt: string, mendedUntil: string | null = null, code = 'INVALID_SIGNATURE') => ({ code, count: 1, lastAt, mendedUntil }); // prettier-ignore
const store = (lastOrderAt: string | null, refusals: ReturnType<typeof refused>[] = [], more = {}) => ({
  active: true, archivedAt: null, lastOrderAt, intake: { accepted24h: 0, lastAcceptedAt: lastOrderAt, refused: refusals }, ...more,
}); // prettier-ignore
const [EARLY, NOON, LATE] = [
  '2026-11-23T09:00:00.000Z',
  '2026-11-23T12:00:00.000Z',
  '2026-11-23T15:00:00.000Z',
] as const;

test('a store refuses orders while nothing has mended its newest refusal', () => {
  expect(storeState(store(null))).toBe('silent');
  expect(storeState(store(NOON))).toBe('receiving');
  expect(storeState(store(NOON, [refused(EARLY, NOON)]))).toBe('receiving');
  expect(storeState(store(NOON, [refused(LATE, NOON)]))).toBe('refusing');
  expect(storeState(store(null, [refused(EARLY)]))).toBe('refusing');
  expect(storeState(store(null, [refused(EARLY, NOON)]))).toBe('silent');
  expect(storeState(store(null, [], { active: false }))).toBe('off');
  expect(storeState(store(null, [], { archivedAt: EARLY }))).toBe('archived');
});

test('of several refusals the newest is told', () => {
  const both = [refused(EARLY), refused(NOON, null, 'INVALID_PAYLOAD')];
  expect(newestRefusal(store(null, both))?.code).toBe('INVALID_PAYLOAD');
  expect(openRefusal(store(null, both))?.code).toBe('INVALID_PAYLOAD');
});

test('of several refusals the newest open one counts', () => {
  const both = [refused(NOON, LATE), refused(EARLY, null, 'INVALID_PAYLOAD')];
  expect(openRefusal(store(null, both))?.code).toBe('INVALID_PAYLOAD');
});

test('a refusal is over once a later order was accepted, and not by the secret alone', () => {
  expect(newestRefusal(store(LATE, [refused(NOON, LATE)]))).toBeNull();
  expect(newestRefusal(store(null, [refused(NOON, LATE)]))?.code).toBe('INVALID_SIGNATURE');
});
