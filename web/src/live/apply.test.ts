// The effect of events on the cached reads.
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { aDelivery } from '@/testing/delivery';
import { createApplier, FLUSH_MS, READINGS } from './apply';
import { patched, type LiveDelivery } from './patch';

const now = (id: string, version: number, more: Partial<LiveDelivery> = {}): LiveDelivery => ({
  id,
  status: 'processing',
  resolutionCode: null,
  items: { shared: 1, total: 2 },
  updatedAt: `2026-11-22T14:00:${String(version).padStart(2, '0')}.000Z`,
  version,
  ...more,
});
const eventOf = (data: LiveDelivery) => ({ event: 'delivery', data: data as unknown as Record<string, unknown> });

let client: QueryClient;
let applier: ReturnType<typeof createApplier>;
const reads = new Map<string, number>();
const readsOf = (...key: string[]) => reads.get(key.join('/')) ?? 0;
let stops: (() => void)[];
// A thing that is on the screen.
function watch(queryKey: string[], data: unknown) {
  const observer = new QueryObserver(client, {
    queryKey,
    queryFn: () => {
      reads.set(queryKey.join('/'), readsOf(...queryKey) + 1);
      return data;
    },
    staleTime: Infinity,
  });
  stops.push(observer.subscribe(() => undefined));
  return () => client.getQueryData(queryKey) as { data: { id: string; status: string; sharedCount: number }[] };
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  vi.useFakeTimers();
  reads.clear();
  stops = [];
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  applier = createApplier(client);
});
afterEach(() => {
  applier.stop();
  for (const stop of stops) stop();
  client.clear();
  vi.useRealTimers();
});

test('a hundred changes a second are applied four times a second, the newest of each thing', async () => {
  const list = watch(['deliveries', 'list', 'q'], { data: [aDelivery({ id: 'del_1' }), aDelivery({ id: 'del_2' })] });
  await pass(0);
  let changes = 0;
  stops.push(client.getQueryCache().subscribe(({ type }) => (changes += type === 'updated' ? 1 : 0)));
  let flushes = 0;
  stops.push(applier.subscribe(() => (flushes += 1)));
  for (let n = 0; n < 100; n++) {
    applier.take([
      eventOf(now(n % 2 ? 'del_1' : 'del_2', 1 + Math.floor(n / 2), { items: { shared: n % 2, total: 2 } })),
    ]);
    await pass(10);
  }
  expect(flushes).toBeGreaterThanOrEqual(3);
  expect(flushes).toBeLessThanOrEqual(5);
  await pass(FLUSH_MS);
  expect(list().data.map(({ status, sharedCount }) => [status, sharedCount])).toEqual([['processing', 1], ['processing', 0]]); // prettier-ignore
  expect(changes).toBeLessThan(30);
});

test('an older version never takes the place of a newer one', async () => {
  const list = watch(['deliveries', 'list', 'q'], { data: [aDelivery({ id: 'del_1' })] });
  await pass(0);
  applier.take([eventOf(now('del_1', 9, { status: 'completed' })), eventOf(now('del_1', 8))]);
  await pass(0);
  expect(list().data[0]?.status).toBe('completed');
  applier.take([eventOf(now('del_1', 7))]);
  await pass(FLUSH_MS);
  expect([applier.newest('del_1')?.version, applier.flushes()]).toEqual([9, 1]);
});

test('what an event touches is read anew, the rest is not, and none more often than it bears', async () => {
  watch(['deliveries', 'one', 'del_1'], {});
  watch(['credits', 'balance'], {});
  watch(['overview', ''], { recent: [] });
  await pass(0);
  for (let n = 1; n <= 40; n++) {
    applier.take([eventOf(now('del_1', n))]);
    await pass(100);
  }
  await pass(5_000);
  expect(readsOf('credits', 'balance')).toBe(1);
  const overview = readsOf('overview', '');
  expect(overview).toBeGreaterThanOrEqual(3);
  expect(overview).toBeLessThanOrEqual(5); // at first, and every two seconds
  expect(readsOf('deliveries', 'one', 'del_1')).toBeLessThanOrEqual(12);
});

test('the last change is read, also where it came while the one before was', async () => {
  let answer = (_: unknown) => {};
  let begun = 0;
  const observer = new QueryObserver(client, {
    queryKey: ['cloud'],
    queryFn: () => {
      begun += 1;
      return new Promise((resolve) => (answer = resolve));
    },
  });
  stops.push(observer.subscribe(() => undefined));
  answer('first');
  await pass(0);
  applier.take([{ event: 'cloud', data: {} }]);
  await pass(300);
  expect(begun).toBe(2);
  applier.take([{ event: 'cloud', data: {} }]);
  await pass(3_000);
  expect(begun).toBe(2);
  answer('second');
  await pass(1_100);
  expect(begun).toBe(3);
});

test('the time of a last order is noted some seconds after its event, and is read then', async () => {
  watch(['stores', 'one', 'int_1'], {});
  watch(['stores', 'mappings', 'int_1'], {});
  await pass(0);
  for (let n = 0; n < 3; n++) {
    applier.take([{ event: 'order', data: { id: `ord_${n}` } }]);
    await pass(1_000);
  }
  await pass(1_000);
  expect(readsOf('stores', 'one', 'int_1')).toBe(3); // at first, and every two seconds
  await pass(2_000);
  expect(readsOf('stores', 'one', 'int_1')).toBe(4);
  await pass(5_000);
  expect(readsOf('stores', 'one', 'int_1')).toBe(5);
  await pass(60_000);
  expect([readsOf('stores', 'one', 'int_1'), readsOf('stores', 'mappings', 'int_1')]).toEqual([5, 1]);
});

test.each([
  ['reset', {}],
  ['hello', { resumed: false }],
])('after %s all that is on the screen is read anew', async (event, data) => {
  watch(['keys', 'list'], {});
  watch(['stores', 'mappings', 'x'], {});
  await pass(0);
  applier.take([{ event, data }]);
  await pass(FLUSH_MS);
  expect([readsOf('keys', 'list'), readsOf('stores', 'mappings', 'x')]).toEqual([2, 2]);
});

test('who goes on where it was reads nothing', async () => {
  watch(['keys', 'list'], {});
  await pass(0);
  applier.take([{ event: 'hello', data: { resumed: true } }]);
  await pass(FLUSH_MS);
  expect(readsOf('keys', 'list')).toBe(1);
});

test('every kind of event is heard of', () => {
  const kinds = new Set(READINGS.flatMap(({ after }) => after));
  expect([...kinds].sort()).toEqual([
    'bulk',
    'cloud',
    'credits',
    'delivery',
    'intake_refused',
    'order',
    'subscription',
  ]);
});

test('a row is patched whole, and stays itself where nothing is new', () => {
  const row = aDelivery({ id: 'del_1', status: 'failed', resolutionCode: 'username_missing', queuePosition: null });
  const next = patched(row, now('del_1', 1, { status: 'completed', items: { shared: 2, total: 2 } }));
  expect(next).toMatchObject({
    status: 'completed',
    resolutionCode: null,
    sharedCount: 2,
    completedAt: next.updatedAt,
  });
  expect(patched(next, now('del_1', 1, { status: 'completed', items: { shared: 2, total: 2 } }))).toBe(next);
  expect(patched(next, now('del_1', 1, { updatedAt: '2026-11-22T13:00:00.000Z' }))).toBe(next);
});

test('a row that waits for its buyer says since when', () => {
  const since = '2026-11-22T13:00:00.000Z';
  const [queued, waits] = [aDelivery(), aDelivery({ status: 'waiting_for_friendship', waitingSince: since })];
  const heard = now('del_1', 1, { status: 'waiting_for_friendship', items: { shared: 1, total: 2 } });
  expect(patched(queued, heard).waitingSince).toBe(heard.updatedAt);
  expect(patched(waits, heard).waitingSince).toBe(since);
  expect(patched(waits, now('del_1', 1, { status: 'queued' })).waitingSince).toBeNull();
});
