import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { t } from '@/i18n/text';
import { didKey, saidKey, usernames } from './said';
import type { Entry } from './timeline';

const entry = (id: string, message: string, more: Partial<Entry> = {}): Entry => ({
  id,
  at: '2026-11-20T10:00:00.000Z',
  type: 'note',
  kind: 'action',
  actor: 'system',
  actorName: null,
  status: null,
  resolutionCode: null,
  message,
  attempt: 1,
  durationMs: null,
  itemId: null,
  data: {},
  ...more,
});

// The service's own sentences, as its sources have them: what they call the customer is the buyer here, and the merchant is you.
const SOURCES = [
  'services/delivery/change_words.cpp',
  'services/delivery/actions.cpp',
  'services/delivery/fulfilment.cpp',
  'services/worker/job_end.cpp',
  'services/worker/step_answer.cpp',
];
const NO_ENTRY = ['The delivery has nothing of that customer.']; // an answer to a call
const sentences = SOURCES.flatMap((file) => {
  const source = readFileSync(`../src/${file}`, 'utf8').replace(/"\n\s+"/g, '');
  return [...source.matchAll(/"([A-Z][^"\n]*\b(?:customer|merchant)\b[^"\n]*\.)"/g)].map(([, said = '']) => said);
}).filter((said) => !NO_ENTRY.includes(said) && !said.startsWith('The delivery waits for'));

test('the sources say something of customers and merchants', () => {
  expect(sentences.length).toBeGreaterThan(12);
});
test.each([...new Set(sentences)])('“%s” speaks of the buyer and of you', (said) => {
  const key = said === 'The customer accepted the friend request.' ? 'timeline.accepted' : saidKey(said);
  expect(key).toBeDefined();
  expect(key && t(key as 'timeline.said.asked')).not.toMatch(/customer|merchant/i);
});

test('the person who did it is named, where there is one', () => {
  const said = 'The merchant invalidated the delivery.';
  expect(didKey(entry('1', said, { actor: 'usr_0a1b2c3d4e5f6' }))).toBe('timeline.did.stopped');
  expect(didKey(entry('1', said))).toBeUndefined();
  expect(didKey(entry('1', 'Something newer.', { actor: 'usr_0a1b2c3d4e5f6' }))).toBeUndefined();
});

test('each entry has the username of its time', () => {
  const names = usernames(
    [
      entry('5', 'later'),
      entry('4', "The customer's username was changed.", { data: { from: 'jon', to: 'jonas' } }),
      entry('3', 'before'),
      entry('2', 'The store sent another username for the customer.'),
      entry('1', 'long before'),
      entry('0', 'found', { data: { username: 'joe' } }),
    ],
    'jonas',
  );
  expect([...names]).toEqual([
    ['5', 'jonas'],
    ['4', 'jonas'],
    ['3', 'jon'],
    ['2', 'jon'],
    ['1', null],
    ['0', 'joe'],
  ]);
});

test('an order that was processed again has matches, as on its page', () => {
  const key = saidKey('The order was processed again with the mappings of now.');
  expect(key && t(key)).toBe('The order was processed again with your present matches.');
});
