import { expect, test } from 'vitest';
import { detailOf } from './detail';

test('spans, prices and times that the service wrote are told as people write them', () => {
  const now = new Date().toISOString();
  expect(detailOf({ action: 'integration.secret_rotated', detail: 'overlap of 86400 s' })).toBe(
    'both work for 24 hours',
  );
  expect(detailOf({ action: 'subscription.secret_rotated', detail: 'overlap of 0 s' })).toBe('overlap of 0 s');
  expect(detailOf({ action: 'purchase.opened', detail: '100 credits for 1900 eur' })).toBe('100 credits for €19.00');
  expect(detailOf({ action: 'purchase.opened', detail: '1 credits for 100 eur' })).toBe('1 credit for €1.00');
  expect(detailOf({ action: 'subscription.turned_off', detail: `failing since ${now}` })).toMatch(
    /^failing since today, \d/,
  );
  expect(detailOf({ action: 'subscription.recovery_began', detail: `of what failed since ${now}` })).toMatch(
    /^of what failed since today, \d/,
  );
});

const FORGED = ['overlap of 86400 s', '100 credits for 1900 eur', `failing since ${new Date().toISOString()}`];
const NO_TIME = '2026-99-99T99:99:99Z';

test('the words of a person stay as they are, whatever they look like', () => {
  for (const detail of [...FORGED, NO_TIME, `failing since ${NO_TIME}`, '', 'role <b>x</b>'])
    for (const action of ['integration.archived', 'credits.granted', 'account.disabled', 'constructor', '__proto__'])
      expect(detailOf({ action, detail })).toBe(detail);
});

test('what the service never writes of an action stays as it is', () => {
  const actions = ['integration.secret_rotated', 'subscription.turned_off', 'purchase.opened'];
  for (const detail of ['', 'by password', '100 credits for a friend', NO_TIME, `failing since ${NO_TIME}`])
    for (const action of actions) expect(detailOf({ action, detail })).toBe(detail);
  expect(detailOf({ action: 'purchase.opened', detail: 'overlap of 86400 s' })).toBe('overlap of 86400 s');
});
