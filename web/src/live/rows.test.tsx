// Rows that are looked at stay where they are.
import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Schemas } from '@/api/client';
import { aDelivery } from '@/testing/delivery';
import { deliveryNow, liveRows, orderNow, useSteadyRows } from './rows';
import { liveState } from './state';
import type { LiveDelivery } from './patch';

const rows = (...ids: string[]) => ids.map((id) => aDelivery({ id }));
const ids = (it: { current: { rows: { id: string }[] } }) => it.current.rows.map(({ id }) => id);
const show = (first: ReturnType<typeof rows>) =>
  renderHook(({ all, key }) => useSteadyRows(all, key, true, deliveryNow), { initialProps: { all: first, key: 'a' } });

beforeEach(() => liveState.set('live'));
afterEach(() => {
  liveState.set('connecting');
  liveRows.follow(undefined);
});

test('new rows wait until they are asked for', () => {
  const { result, rerender } = show(rows('1', '2'));
  rerender({ all: rows('3', '1', '2'), key: 'a' });
  expect([ids(result), result.current.fresh]).toEqual([['1', '2'], 1]);
  act(() => result.current.show());
  expect([ids(result), result.current.fresh]).toEqual([['3', '1', '2'], 0]);
});

test('a row that has left the list stays, as it is now', () => {
  const now = { id: '1', status: 'completed', resolutionCode: null, items: { shared: 2, total: 2 }, updatedAt: '2026-11-22T15:00:00.000Z', version: 9 } as LiveDelivery; // prettier-ignore
  liveRows.follow({
    newest: (id) => (id === '1' ? now : undefined),
    flushes: () => 1,
    subscribe: () => () => undefined,
  });
  const { result, rerender } = show(rows('1', '2'));
  rerender({ all: rows('2'), key: 'a' });
  expect(result.current.rows.map(({ id, status }) => [id, status])).toEqual([['1', 'completed'], ['2', 'queued']]); // prettier-ignore
});

test('a change of a row that has left reaches a list that was drawn before anything was followed', () => {
  const { result, rerender } = show(rows('1', '2'));
  const changes = new Map<string, LiveDelivery>();
  let flushes = 0;
  let flush = () => {};
  liveRows.follow({
    newest: (id) => changes.get(id),
    flushes: () => flushes,
    subscribe: (listener) => {
      flush = listener;
      return () => undefined;
    },
  });
  rerender({ all: rows('2'), key: 'a' });
  const now = { id: '1', status: 'invalidated', resolutionCode: null, items: { shared: 0, total: 2 }, updatedAt: '2026-11-22T15:00:00.000Z', version: 9 } as LiveDelivery; // prettier-ignore
  act(() => {
    changes.set('1', now);
    flushes += 1;
    flush();
  });
  expect(result.current.rows.map(({ status }) => status)).toEqual(['invalidated', 'queued']);
});

test('another list begins anew, and so does one that is not followed live', () => {
  const { result, rerender } = show(rows('1'));
  rerender({ all: rows('2', '3'), key: 'b' });
  expect(ids(result)).toEqual(['2', '3']);
  act(() => liveState.set('away'));
  rerender({ all: rows('9'), key: 'b' });
  expect([ids(result), result.current.fresh]).toEqual([['9'], 0]);
});

test('an order that has left the list of those that wait for a match has the delivery that was made of it', () => {
  const waits = { id: 'ord_1', outcome: 'no_mapped_items', deliveryId: null, deliveryStatus: null, resolutionCode: null, lineCount: 2, unmappedCount: 2 } as Schemas['Order']; // prettier-ignore
  const made = { id: 'del_1', status: 'queued', resolutionCode: null } as LiveDelivery;
  // How many of its products have presets now, no event says.
  const counts = { lineCount: 0, unmappedCount: 0 };
  expect(orderNow(waits, (id) => (id === 'del_1' ? made : undefined))).toEqual({ ...waits, ...counts, outcome: 'delivery', deliveryId: 'del_1', deliveryStatus: 'queued' }); // prettier-ignore
  expect(orderNow(waits, () => undefined)).toBe(waits);
  const had = {
    ...waits,
    outcome: 'delivery',
    deliveryId: 'del_1',
    deliveryStatus: 'failed',
    unmappedCount: 1,
  } as const;
  expect(orderNow(had, () => made)).toEqual({ ...had, deliveryStatus: 'queued' });
});
