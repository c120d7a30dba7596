import { expect, test } from 'vitest';
import { isolated } from '@/i18n/outside';
import { changeWords, detailOf } from './detail';

test('spans, prices and times that the service wrote are told as people write them', () => {
  const now = new Date().toISOString();
  expect(detailOf({ action: 'delivery.retried', detail: 'order #1001' })).toBe(`Order ${isolated('#1001')}`);
  expect(detailOf({ action: 'integration.created', detail: 'order #1001' })).toBe('order #1001');
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

test('changes of settings and rights have the words of the pages that make them', () => {
  const words = (field: string, from: string, to: string) => changeWords({ field, from, to });
  expect(words('settings.autoRevoke', 'false', 'true')).toBe('Take presets back on refund: off → on');
  expect(words('settings.hold', 'none', 'all')).toBe('Hold orders: off → on');
  expect(words('settings.usernameFields', '', 'nick')).toBe('Extra username fields: none → nick');
  expect(words('permissions', 'presets:read', 'presets:read,login')).toMatch(/^May use: Read presets → Read presets, check logins at /); // prettier-ignore
  expect(words('name', 'true', 'Marlow')).toBe('Name: true → Marlow');
  expect(words('settings.newer', 'false', 'true')).toBe('settings.newer: false → true');
  expect(words('constructor', 'false', 'true')).toBe('constructor: false → true');
});

test('matches, the token that follows another, and a limit are told in words', () => {
  expect(detailOf({ action: 'integration.mappings_replaced', detail: '17 mappings' })).toBe('17 matches since then');
  expect(detailOf({ action: 'api_key.rotated', detail: 'replaced by key_0ap2b3c4d5e6f' })).toBe(
    'replaced by a new token',
  );
  expect(detailOf({ action: 'integration.archived', detail: '17 mappings' })).toBe('17 mappings');
  const words = changeWords({ field: 'lowAt', from: 'as the service is set', to: '1000' });
  expect(words).toBe('Warned at: as the service is set → 1000');
  expect(changeWords({ field: 'supportUrl', from: '', to: 'https://a.example' })).toBe('Web page for questions: none → https://a.example'); // prettier-ignore
});

test('rights, and the end of a session, are told in words', () => {
  const detail = 'deliveries:write,presets:read,integrations,subscriptions,newer:right';
  expect(detailOf({ action: 'api_key.created', detail })).toBe('Retry, approve and stop deliveries, read presets, manage stores, manage outbound webhooks, newer:right'); // prettier-ignore
  expect(detailOf({ action: 'session.ended', detail: 'what it gave opens nothing any more' })).toBe('its access ended at once'); // prettier-ignore
  expect(detailOf({ action: 'api_key.created', detail: 'a <b>x</b>' })).toBe('a <b>x</b>');
});
