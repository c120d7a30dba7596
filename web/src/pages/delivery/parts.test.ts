import { expect, test } from 'vitest';
import { aDelivery, failedFor } from '@/testing/delivery';
import { hoursMinutes } from '@/i18n/format';
import { BY_HAND, lineOf } from '@/vocabulary/delivery_line';
import { messageOf } from './messages';
import { approvedWords, queuedWords } from './actions';
import { WAITS } from './said';
import { folded, outcomeOf, type Entry } from './timeline';

const NOW = Date.parse('2026-11-22T14:00:00.000Z');

test('the line after a status', () => {
  expect(lineOf(aDelivery(), NOW)).toBe('About number 2 in line');
  expect(lineOf(aDelivery({ queuePosition: 1001 }), NOW)).toBe('More than 1,000 ahead of it');
  expect(lineOf(aDelivery({ queuePosition: 9 }), NOW)).toBe('About number 9 in line');
  const estimatedAt = new Date(NOW + 240_000).toISOString();
  expect(lineOf(aDelivery({ queuePosition: 9, estimatedAt }), NOW)).toBe(
    `About ${hoursMinutes(estimatedAt)}, number 9 in line`,
  );
  expect(lineOf(aDelivery({ nextAttemptAt: '2026-11-22T15:10:00.000Z' }), NOW)).toMatch(/^Again at /);
  expect(lineOf(aDelivery({ nextAttemptAt: new Date(NOW + 20_000).toISOString() }), NOW)).toMatch(/^Again at /);
  expect(lineOf(aDelivery({ nextAttemptAt: new Date(NOW - 1).toISOString() }), NOW)).toBe('About number 2 in line');
  expect(lineOf(aDelivery({ status: 'processing', sharedCount: 1, itemCount: 3 }), NOW)).toBe('Sharing 2 of 3');
  expect(lineOf(aDelivery({ status: 'processing', sharedCount: 3, itemCount: 3 }), NOW)).toBe('Sharing 3 of 3');
  expect(lineOf(aDelivery({ status: 'completed', completedAt: '2026-11-22T13:24:05.000Z' }), NOW)).toBe('in 3 min');
  for (const completedAt of ['2026-11-22T13:21:05.000Z', '2026-11-22T13:21:05.900Z'])
    expect(lineOf(aDelivery({ status: 'completed', completedAt }), NOW)).toBe('in under a second');
  expect(
    lineOf(aDelivery({ status: 'completed', completedAt: '2026-11-22T13:24:05.000Z', message: BY_HAND }), NOW),
  ).toBe('by hand');
  const waits = {
    status: 'waiting_for_friendship',
    requestedAt: new Date(NOW - 2 * 3_600_000).toISOString(),
  } as const;
  expect(lineOf(aDelivery(waits), NOW)).toBe('Asked 2 h ago');
  expect(lineOf(aDelivery({ ...waits, requestedAt: null }), NOW)).toBe('');
  expect(lineOf(failedFor('username_not_found'), NOW)).toBe('Username not found');
  expect(lineOf(aDelivery({ status: 'in_review', reviewReason: 'held' }), NOW)).toBe('Store holds orders');
  expect(lineOf(aDelivery({ status: 'invalidated', reason: 'order_refunded' }), NOW)).toBe('Order refunded');
  expect(lineOf(aDelivery({ pendingAction: 'invalidate' }), NOW)).toBe('Will stop after this step');
});

test('the words after an approval and a retry name the place and the time as the list does', () => {
  const estimatedAt = '2999-11-22T13:21:05.000Z';
  const place = `About ${hoursMinutes(estimatedAt)}, number 9 in line`;
  const it = aDelivery({ queuePosition: 9, estimatedAt });
  expect(lineOf(it)).toBe(place);
  expect(approvedWords(it)).toBe(`Approved. ${place}.`);
  expect(queuedWords(it)).toBe(`Queued again for @jonasek_. ${place}.`);
  expect(approvedWords(aDelivery({ queuePosition: null }))).toBe('Approved.');
});

const entry = (id: string, type: Entry['type'], message = 'm'): Entry => ({
  id, at: '2026-11-22T13:21:05.000Z', type, kind: 'attempt', actor: 'system', actorName: null, status: null, resolutionCode: null, message,
  attempt: 1, durationMs: null, itemId: null, data: {},
}); // prettier-ignore

test('tries in a row that came to the same are one entry', () => {
  const all = folded([
    entry('5', 'put_off', 'timed out'),
    entry('4', 'put_off', 'timed out'),
    entry('3', 'put_off', 'refused'),
    entry('2', 'item_shared'),
    entry('1', 'item_shared'),
  ]);
  expect(all.map(({ entry: { id }, again }) => [id, again.map((one) => one.id)])).toEqual([['5', ['4']], ['3', []], ['2', []], ['1', []]]); // prettier-ignore
});

test('only the newest outcome is one', () => {
  expect(outcomeOf([entry('3', 'event_told'), entry('2', 'failed'), entry('1', 'failed')])).toBe('2');
  expect(outcomeOf([entry('1', 'order_received')])).toBeUndefined();
  // Another preset was saved for the missing one, or credits were bought: the failure is over.
  expect(outcomeOf([entry('4', 'event_told'), entry('3', 'queued'), entry('2', 'failed')])).toBe('3');
  const reopened: Entry = { ...entry('4', 'action'), status: 'in_review' };
  expect(outcomeOf([reopened, entry('3', 'failed')])).toBe('4');
  expect(outcomeOf([{ ...reopened, data: { to: 'jonasek' } }, entry('3', 'failed')])).toBe('3');
  for (const message of ['The shared files are being taken back.', "The buyer's link was made anew."])
    expect(outcomeOf([{ ...reopened, message }, entry('3', 'completed')])).toBe('3'); // neither moves the delivery
  expect(outcomeOf([{ ...reopened, actor: 'order' }, entry('3', 'completed')])).toBe('3');
});

test('a message for the buyer, where the buyer can do something', () => {
  const message = messageOf(failedFor('username_not_found'), 'Marlow & Co?');
  expect(message?.text).toBe(
    'Hi! Your presets from Marlow & Co? (order #4124) are ready, but we could not find your cloud username. Please enter it here: https://bridge.example/p#token',
  );
  const mail = new URL(message?.mailto ?? '');
  expect(decodeURIComponent(mail.pathname)).toBe('jonas@posteo.net');
  expect(mail.searchParams.get('subject')).toBe('Your presets from Marlow & Co? (order #4124)');
  expect(mail.searchParams.get('body')).toBe(message?.text);
  expect(messageOf(aDelivery({ status: 'waiting_for_friendship' }), 'x')?.text).toContain('accept the friend request');
  for (const code of ['credentials_missing', 'cloud_unavailable', 'internal_error', 'insufficient_credits'] as const) {
    expect(messageOf(failedFor(code), 'x')).toBeNull();
  }
});

test('a message about the friend request names the cloud user from which it comes', () => {
  const waiting = aDelivery({ status: 'waiting_for_friendship' });
  expect(messageOf(waiting, 'x', '@marlow_tones')?.text).toContain(
    'accept the friend request from @marlow_tones on the cloud platform.',
  );
  for (const code of ['friend_request_declined', 'friendship_timeout', 'blocked_by_customer'] as const) {
    expect(messageOf(failedFor(code), 'x', '@marlow_tones')?.text).toContain('@marlow_tones');
    expect(messageOf(failedFor(code), 'x')?.text).toMatch(/from us|blocked us/);
  }
});

test('an address that would add to the mail adds nothing', () => {
  const message = messageOf(
    failedFor('username_missing', { customerEmail: 'a@x.example?bcc=evil@x.example&subject=x' }),
    'x',
  );
  expect([...new URL(message?.mailto ?? '').searchParams.keys()]).toEqual(['subject', 'body']);
});

test('a delivery that is let wait is not said to be only queued again, until something came of it', () => {
  const entry = (type: Entry['type'], message: string) =>
    ({ id: type, at: '2026-11-22T13:21:05.000Z', type, actor: type === 'action' ? 'usr_1' : 'system', message, data: {} }) as Entry; // prettier-ignore
  const words = (...timeline: Entry[]) => queuedWords(aDelivery({ queuePosition: 21, timeline }));
  const waits = entry('action', WAITS);
  const says = 'Waits 14 more days for @jonasek_. We first check for an answer. About number 21 in line.';
  expect(words(waits)).toBe(says);
  expect(words(entry('queued', 'It is queued.'), entry('put_off', 'm'), waits)).toBe(says);
  const queued = 'Queued again for @jonasek_. About number 21 in line.';
  expect(words(entry('accepted', 'm'), waits)).toBe(queued);
  expect(words(entry('action', 'The merchant asked for a new attempt.'), waits)).toBe(queued);
  expect(queuedWords(aDelivery({ queuePosition: null, timeline: [waits] }))).toBe(
    'Waits 14 more days for @jonasek_. We first check for an answer.',
  );
});
