import { expect, test } from 'vitest';
import { newestRefusal, openRefusal, storeState } from './store';

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

test('a refusal is open until a later order is accepted or, of a wrong signature, the secret is changed', () => {
  const wrong = [refused('2026-11-23T10:00:00.000Z')];
  const open = (lastOrderAt: string | null, secretChangedAt: string | null, refusals = wrong) =>
    openRefusal(store(lastOrderAt, refusals, { secretChangedAt }));
  expect(open(null, null)).toMatchObject({ code: 'INVALID_SIGNATURE', count: 1 });
  expect(open('2026-11-23T10:00:01.000Z', null)).toBeNull();
  expect(open(null, '2026-11-23T10:00:01.000Z')).toBeNull();
  expect(storeState(store(null, wrong, { secretChangedAt: '2026-11-23T10:00:01.000Z' }))).toBe('silent');
  const body = [...wrong, refused('2026-11-23T09:00:00.000Z', 'INVALID_PAYLOAD')];
  expect(open(null, '2026-11-23T10:00:01.000Z', body)?.code).toBe('INVALID_PAYLOAD');
});

test('a count of 24 hours that may count mended refusals too says so', () => {
  const mixed = (lastOrderAt: string | null, secretChangedAt: string | null = null) =>
    openRefusal(store(lastOrderAt, [refused('2026-11-23T10:00:00.000Z')], { secretChangedAt }))?.mixed;
  const [before, within] = ['2026-11-22T08:00:00.000Z', '2026-11-23T09:00:00.000Z'];
  expect([mixed(null), mixed(before), mixed(within)]).toEqual([false, false, true]);
  expect([mixed(null, before), mixed(null, within)]).toEqual([false, true]);
});
