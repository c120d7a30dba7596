import { expect, test } from 'vitest';
import { inOrder, type Entry } from './timeline';

const at = '2026-11-22T13:21:05.000Z';
const entry = (id: string, type: Entry['type'], status: Entry['status'], more: Partial<Entry> = {}) =>
  ({ id, type, status, at, ...more }) as Entry;
const idsOf = (entries: Entry[]) => inOrder(entries).map(({ id }) => id);

test('of one moment, an event comes after the state that it tells of', () => {
  const failed = entry('failed', 'failed', 'failed');
  const told = entry('told', 'event_told', 'failed');
  const queued = entry('queued', 'queued', 'queued');
  const toldQueued = entry('told queued', 'event_told', 'queued');
  const right = ['told', 'failed', 'told queued', 'queued'];
  expect(idsOf([told, failed, toldQueued, queued])).toEqual(right);
  expect(idsOf([failed, told, queued, toldQueued])).toEqual(right);
  // It was reported a second later, of an earlier failure.
  const earlier = entry('earlier', 'failed', 'failed', { at: '2026-11-22T13:21:04.000Z' });
  expect(idsOf([queued, told, earlier])).toEqual(['queued', 'told', 'earlier']);
});

test('of one moment, an action comes before the state that came of it, and after another one', () => {
  const again = entry('again', 'action', 'failed');
  const told = entry('told', 'event_told', 'failed');
  const failed = entry('failed', 'failed', 'failed');
  expect(idsOf([again, told, failed])).toEqual(['told', 'failed', 'again']);
  const reopened = entry('reopened', 'action', 'in_review');
  const completed = entry('completed', 'completed', 'completed');
  expect(idsOf([reopened, completed])).toEqual(['reopened', 'completed']);
});
