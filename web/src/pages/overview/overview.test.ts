// The rows of needs, in words, and the periods of the chart.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CODES } from '@/vocabulary/delivery';
import { needsYou } from '@/vocabulary/health';
import { STATE_LOOKS } from '@/vocabulary/webhook';
import { hasText, t } from '@/i18n/text';
import { suggestionFor } from '../start/suggestions';
import { stepsDone } from '../start/later';
import { NEED_KINDS, rowsOf, type Need } from './needs';
import { storeOf } from '../search';
import { periodOf, queryOf } from './period';

const { schemas } = JSON.parse(readFileSync('../api/openapi.json', 'utf8')).components;
const credits = { available: 41, held: 0, perDay: 10, runsOutAt: null };
const need = (kind: Need['kind'], more: Partial<Need> = {}): Need => ({
  kind,
  code: null,
  count: 2,
  oldestAt: '2026-11-22T09:10:00.000Z',
  integrationId: 'int_0a1b2c3d4e5f6',
  subscriptionId: 'sub_0a1b2c3d4e5f6',
  detail: 'marlowtones.com',
  ...more,
});
const NOW = Date.parse('2026-11-22T14:00:00.000Z');

test('every kind of the contract has its row, words and button', () => {
  expect([...NEED_KINDS].sort()).toEqual([...schemas.Need.properties.kind.enum].sort());
  for (const kind of NEED_KINDS) {
    const [row] = rowsOf({ needs: [need(kind)], credits }, undefined, NOW);
    expect(row?.title, kind).not.toBe(kind);
    expect(
      [row?.title, row?.text, row?.button].every((text) => text && !/need\.|\{/.test(text)),
      kind,
    ).toBe(true);
    expect(row?.link, kind).toBeDefined();
  }
});

test('a receiver that a person turned off is calm and comes last, as the sidebar counts it', () => {
  const off = (code: string) => need('receiver_off', { code, subscriptionId: `sub_${code}` });
  const needs = [off('deactivated'), off('failing'), off('receiver_gone'), need('credits_low')];
  const rows = rowsOf({ needs, credits }, undefined, NOW);
  expect(rows.map(({ colour, calm }) => [colour, calm ?? false])).toEqual([
    ['red', false],
    ['red', false],
    ['amber', false],
    ['grey', true],
  ]);
  expect(rows[3]).toMatchObject({
    icon: STATE_LOOKS.deactivated[0],
    title: 'marlowtones.com is turned off',
    text: 'It hears of nothing until somebody turns it on again.',
  });
  const seen = (health: string) => needsYou({ health, failingSince: null } as Parameters<typeof needsYou>[0], NOW);
  expect(['off', 'gone', 'deactivated'].map(seen)).toEqual([true, true, false]);
});

test('privacy requests without a date have no answer to give', () => {
  const row = (oldestAt: string | null) =>
    rowsOf({ needs: [need('privacy_request', { oldestAt })], credits }, undefined, NOW)[0];
  expect(row('2026-11-22T09:10:00.000Z')).toMatchObject({ text: 'Answer by 22 Dec.', button: 'Answer' });
  expect(row(null)).toMatchObject({
    text: 'The bridge has erased its part. Close what you have erased elsewhere too.',
    button: 'See requests',
  });
});

test('refusals of one store for two reasons are two rows', () => {
  const needs = ['INVALID_SIGNATURE', 'INVALID_PAYLOAD'].map((code) => need('intake_refused', { code }));
  expect(new Set(rowsOf({ needs, credits }, undefined, NOW).map(({ key }) => key)).size).toBe(2);
});

test('refusals that are mended are no need, and are in no count', () => {
  const row = (mendedUntil: string | null, id = 'int_0a1b2c3d4e5f6') => {
    const refused = [{ code: 'INVALID_SIGNATURE', count: 2, lastAt: '2026-11-22T13:50:00.000Z', mendedUntil }];
    const it = { id, platform: 'WooCommerce', lastOrderAt: null, intake: { refused } };
    const needs = [need('intake_refused', { code: 'INVALID_SIGNATURE' })];
    return rowsOf({ needs, credits }, undefined, NOW, [it as never])[0]?.text;
  };
  const counted =
    /^2 with a wrong signature since [^.]*\.( WooCommerce does not send refused orders again: they are lost\.)?$/;
  expect(row(null)).toMatch(counted);
  expect(row(null, 'int_7a1b2c3d4e5f6')).toMatch(counted);
  expect(row('2026-11-22T12:00:00.000Z')).toBe(
    'The last came 10 min ago, with a wrong signature. WooCommerce does not send refused orders again: they are lost.',
  );
  expect(row('2026-11-22T13:51:00.000Z')).toBeUndefined();
});

test.each([
  ['Shopify', /Shopify sends refused orders again for about four hours; after that they are lost\.$/],
  ['WooCommerce', /WooCommerce does not send refused orders again: they are lost\.$/],
  [null, /Refused orders are lost unless your website sends them again\.$/],
  ['Etsy', /since [^.]*\.$/],
])('the end of refused orders is said by the kind of store: %s', (platform, says) => {
  const intake = { refused: [] };
  const it = { id: 'int_0a1b2c3d4e5f6', platform, lastOrderAt: null, secretChangedAt: null, intake };
  const needs = [need('intake_refused', { code: 'INVALID_SIGNATURE' })];
  expect(rowsOf({ needs, credits }, undefined, NOW, [it as never])[0]?.text).toMatch(says);
});

test('before the first delivery a product without a preset may be a sample of a test', () => {
  const text = (kind: Need['kind'], firstDelivery: boolean) =>
    rowsOf({ needs: [need(kind)], credits, setup: { firstDelivery } as never }, undefined, NOW)[0]?.text;
  const plain = 'Orders of marlowtones.com skip them.';
  expect(text('unmapped', false)).toBe(`${plain} A sample of a test order can be ignored there.`);
  expect(text('unmapped', true)).toBe(plain);
  expect(text('stale', false)).not.toContain('sample');
});

test('deliveries that failed are one row, in the place of the first, that names each cause', () => {
  const rows = rowsOf({ needs: [need('debt'), need('failed', { code: 'username_missing', count: 2 }), need('failed', { code: 'preset_not_found', count: 1 }), need('failed', { code: 'new_code', count: 1, detail: 'New' }), need('review')], credits }, undefined, NOW); // prettier-ignore
  expect(rows.map(({ key }) => key.split(':')[0])).toEqual(['debt', 'failed', 'review']);
  expect(rows[1]).toMatchObject({
    title: '4 deliveries failed',
    text: '2 need a username, 1 preset is missing, 1 New.',
    button: 'Fix 4 deliveries',
    link: { search: { status: 'failed', code: 'username_missing,preset_not_found,new_code' } },
  });
});

test('a delivery that failed is not said to wait', () => {
  const text = (count: number) =>
    rowsOf({ needs: [need('failed', { code: 'cloud_unavailable', count })], credits }, undefined, NOW)[0]?.text;
  expect([text(1), text(2)]).toEqual(['1 did not reach the cloud platform.', '2 did not reach the cloud platform.']);
});

test('the needs of one store lead to the deliveries of that store', () => {
  const needs = [need('failed', { code: 'cloud_rejected' }), need('review')];
  const searches = (store?: string) => rowsOf({ needs, credits }, store, NOW).map(({ link }) => link?.search);
  expect(searches()).toEqual([{ status: 'failed', code: 'cloud_rejected' }, { status: 'in_review' }]);
  expect(searches('int_0a1b2c3d4e5f6')).toEqual([
    { status: 'failed', code: 'cloud_rejected', store: 'int_0a1b2c3d4e5f6' },
    { status: 'in_review', store: 'int_0a1b2c3d4e5f6' },
  ]);
});

test('an order that is refused for another cause than its signature says nothing of the secret', () => {
  const row = (code: string) => rowsOf({ needs: [need('intake_refused', { code })], credits }, undefined, NOW)[0];
  expect(row('INVALID_SIGNATURE')?.button).toBe('Check the secret');
  expect(row('UNAUTHORIZED')?.button).toBe('Check the store');
});

test('every code that is fixed one by one is said in words', () => {
  const own = ['credentials_missing', 'credentials_invalid', 'insufficient_credits']; // needs of their own
  expect(CODES.filter((code) => !own.includes(code) && !hasText(`need.failed.${code}`))).toEqual([]);
});

test('what is newer than this page is shown as it is', () => {
  const [row] = rowsOf({ needs: [need('levitating' as Need['kind'])], credits }, undefined, NOW);
  expect(row).toMatchObject({ title: 'levitating', icon: 'circle', colour: 'grey' });
});

test('deliveries that wait for a login are counted, whether it is refused or missing', () => {
  const says = (kind: Need['kind'], count: number) =>
    rowsOf({ needs: [need(kind, { count })], credits }, undefined, NOW)[0]?.text;
  for (const kind of ['login_invalid', 'login_missing'] as const) {
    expect(says(kind, 1)).toMatch(/\. 1 delivery waits for it\.$/);
    expect(says(kind, 0)).not.toMatch(/wait/);
  }
});

test('deliveries without credits are called failed, as in the chart, and go on by themselves', () => {
  const row = (count: number) => rowsOf({ needs: [need('credits_out', { count })], credits }, undefined, NOW)[0];
  expect(row(2)).toMatchObject({
    title: '2 deliveries failed for want of credits',
    text: 'They go on by themselves once there are some, the oldest first.',
  });
  expect(row(1)?.text).toBe('It goes on by itself once there are some.');
  expect(t('overview.limitIdle')).toBe('No delivery is in line.');
});

test('credits that run out say when, once the account is old enough to know its pace', () => {
  const soon = need('credits_low', { count: 41, oldestAt: '2026-11-26T14:00:00.000Z' });
  const row = (it: Need, perDay: number, limit: number, madeAt = '2026-11-01T14:00:00.000Z') =>
    rowsOf({ needs: [it], credits: { ...credits, perDay } }, undefined, NOW, [], { madeAt, limit })[0];
  const few = 'Few credits are left';
  expect(row(soon, 10, 10)).toMatchObject({ title: 'Credits run out in about 4 days', text: '41 left, you use about 10 a day.' }); // prettier-ignore
  expect(row(soon, 10, 50)?.text).toBe('41 left, below your limit of 50. You use about 10 a day.');
  expect(row({ ...soon, oldestAt: null }, 0, 50)).toMatchObject({
    title: few,
    text: '41 left, below your limit of 50.',
  });
  const young = '2026-11-20T14:00:01.000Z';
  expect(row(soon, 10, 50, young)).toMatchObject({ title: few, text: '41 left, below your limit of 50.' });
  expect(row(soon, 10, 41, young)).toMatchObject({ title: few, text: '41 left, which is your limit.' });
  expect(row(soon, 10, 40, young)).toBeUndefined();
  expect(row(soon, 10, 40, '2026-11-20T14:00:00.000Z')?.title).toBe('Credits run out in about 4 days');
});

test('the address says the period and the store; what it cannot say is passed over', () => {
  expect([periodOf({}), periodOf({ period: '7d' }), periodOf({ period: 'x' })]).toEqual(['30d', '7d', '30d']);
  expect([storeOf({ store: 'int_0a1b2c3d4e5f6' }), storeOf({ store: "int_'" }), storeOf({})]).toEqual(['int_0a1b2c3d4e5f6', undefined, undefined]); // prettier-ignore
  const at = new Date(2026, 10, 22, 14, 31).getTime();
  expect(queryOf('today', undefined, at)).toEqual({ from: new Date(2026, 10, 22).toISOString(), bucket: 'hour' });
  expect(queryOf('7d', 'int_0a1b2c3d4e5f6', at)).toEqual({ from: new Date(2026, 10, 16).toISOString(), bucket: 'day', integrationId: 'int_0a1b2c3d4e5f6' }); // prettier-ignore
});

test('a preset of equal name is suggested, unless there are two', () => {
  const presets = ['Plexi ’68 Lead', 'Tweed-59 CLEAN', 'Twice', 'twice'].map((name) => ({
    id: name,
    kind: 'preset',
    name,
  }));
  expect(suggestionFor("plexi '68  lead", presets)?.id).toBe('Plexi ’68 Lead');
  expect(suggestionFor('Tweed 59 Clean', presets)?.id).toBe('Tweed-59 CLEAN');
  expect([suggestionFor('Twice', presets), suggestionFor('Plexi', presets), suggestionFor('!', presets)]).toEqual([undefined, undefined, undefined]); // prettier-ignore
});

test('a step is done by what the service has', () => {
  const none = {
    cloud: false,
    store: false,
    firstOrder: false,
    mapping: false,
    testOrder: false,
    firstDelivery: false,
  };
  expect(stepsDone({ ...none, cloud: true, store: true })).toEqual([true, false, false, false, false]);
  expect(stepsDone({ ...none, store: true, firstOrder: true })[1]).toBe(true);
});
