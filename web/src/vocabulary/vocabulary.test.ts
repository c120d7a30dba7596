// The contract's values, and whether the dashboard has an icon and words for each.
import '@/i18n/en/account';
import '@/i18n/en/credits';
import '@/i18n/en/delivery';
import '@/i18n/en/orders';
import '@/i18n/en/palette';
import '@/i18n/en/profile';
import '@/i18n/en/stores';
import '@/i18n/en/webhooks';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasText } from '@/i18n/text';
import { LEDGER_KINDS, PURCHASE_STATES } from './credits';
import { CODES, codeWord, ITEM_STATUSES, lookOf, stopReason, STATUSES, statusWord, word } from './delivery';
import { ALL_PERMISSIONS } from './keys';
import { LINE_RESULTS, OUTCOMES } from './outcome';
import { MATCH_TYPES } from './store';
import { EVENT_STATUSES, EVENT_TYPES, HEALTHS } from './webhook';

const { schemas } = JSON.parse(readFileSync('../api/openapi.json', 'utf8')).components;
const allOf = (name: string): string[] => schemas[name].enum;
const has = (...keys: string[]) => keys.filter((key) => !hasText(key));

describe('every value of the contract is known', () => {
  test.each([
    ['DeliveryStatus', STATUSES],
    ['ResolutionCode', CODES],
    ['LedgerKind', LEDGER_KINDS],
    ['PurchaseState', PURCHASE_STATES],
    ['Permission', ALL_PERMISSIONS],
    ['MatchType', MATCH_TYPES],
    ['SubscriptionHealth', HEALTHS],
    ['WebhookEventStatus', EVENT_STATUSES],
    ['EventType', EVENT_TYPES],
    ['OrderOutcome', OUTCOMES],
  ] as [string, readonly string[]][])('%s', (name, known) => {
    expect([...known].sort()).toEqual([...allOf(name)].sort());
  });
  test('lines of orders', () => {
    expect([...LINE_RESULTS].sort()).toEqual([...schemas.OrderLine.properties.result.enum].sort());
  });
  test('items', () => {
    expect([...ITEM_STATUSES].sort()).toEqual([...schemas.DeliveryItem.properties.status.enum].sort());
  });
});

describe('every value has its words', () => {
  test('deliveries', () => {
    expect(has(...allOf('DeliveryStatus').map((value) => `status.${value}`))).toEqual([]);
    expect(has(...allOf('ReviewReason').map((value) => `review.${value}`))).toEqual([]);
    expect(
      has(
        ...allOf('ResolutionCode').flatMap((value) => [
          `code.${value}`,
          `step.stopped.${value}`,
          `fix.${value}`,
          `fix.${value}.text`,
        ]),
      ),
    ).toEqual([]);
    expect(has(...schemas.DeliveryItem.properties.status.enum.map((value: string) => `item.${value}`))).toEqual([]);
    expect(has(...schemas.DeliveryStep.properties.key.enum.map((value: string) => `step.${value}`))).toEqual([]);
    const told = schemas.TimelineEntry.properties.type.enum.filter(
      (value: string) => value !== 'action' && value !== 'note',
    );
    expect(has(...told.map((value: string) => `timeline.${value}`))).toEqual([]);
  });
  test('orders', () => {
    expect(
      has(...allOf('OrderOutcome').flatMap((value) => [`orderOutcome.${value}`, `orderPage.lead.${value}`])),
    ).toEqual([]);
    expect(has(...LINE_RESULTS.map((value) => `orderLine.${value}`))).toEqual([]);
  });
  test('what a search finds', () => {
    const kinds: string[] = schemas.Found.properties.groups.items.properties.kind.enum;
    expect(has(...kinds.map((value) => `found.${value}`))).toEqual([]);
  });
  test('the rest', () => {
    expect(has(...allOf('LedgerKind').map((value) => `ledger.${value}`))).toEqual([]);
    const reversals = allOf('ReversalCause').flatMap((cause) => [`reversal.${cause}`, `reversal_undone.${cause}`]);
    expect(has(...reversals.map((value) => `ledger.${value}`))).toEqual([]);
    expect(
      has(
        ...schemas.Overview.properties.limit.properties.paused.properties.reason.enum.map(
          (one: string) => `cloud.paused.${one}`,
        ),
      ),
    ).toEqual([]);
    expect(has(...allOf('PurchaseState').map((value) => `purchaseState.${value}`))).toEqual([]);
    expect(has(...allOf('Permission').map((value) => `permission.${value}`))).toEqual([]);
    expect(has(...allOf('MatchType').flatMap((value) => [`match.${value}`, `match.by.${value}`]))).toEqual([]);
    expect(has(...allOf('SubscriptionHealth').map((value) => `health.${value}`))).toEqual([]);
    expect(has(...allOf('WebhookEventStatus').map((value) => `eventStatus.${value}`))).toEqual([]);
  });
});

// The contract leaves the actions of the audit log open; the service's own sources name them.
test('every action of the audit log has its sentence', () => {
  const sources = readdirSync('../src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.cpp') && !/_test\.cpp$|testing/.test(name))
    .map((name) => readFileSync(`../src/${name}`, 'utf8'))
    .filter((text) => /\baudit\(|insert_audit\(/.test(text));
  const no = /^(integrations|webhook_subscriptions|cloud_sessions|settings)\.\w+$/; // columns of sealed secrets, fields of a change
  const named = sources.flatMap((text) =>
    [...text.matchAll(/"([a-z_]+(?:\.[a-z_]+)+)"/g)].map(([, name]) => name ?? ''),
  );
  const jobs = schemas.BulkJob.properties.action.enum.map((name: string) => `${name}.asked`);
  const actions = [...named.filter((name) => !no.test(name) && !name.endsWith('.h')), ...jobs];
  expect(actions.length).toBeGreaterThan(50);
  expect(has(...actions.map((name) => `did.${name}`))).toEqual([]);
});

test('what is newer than this page is shown as it is', () => {
  expect(statusWord('levitating')).toBe('levitating');
  expect(codeWord('new_code')).toBe('new_code');
  expect(lookOf('levitating')).toEqual({ icon: 'circle', colour: 'grey' });
  expect(word('item', 'constructor')).toBe('constructor');
  expect(lookOf('constructor')).toEqual({ icon: 'circle', colour: 'grey' });
});

test('a reason to stop is the service’s word, or the merchant’s own text', () => {
  expect(stopReason('order_cancelled')).toBe('Order cancelled');
  expect(stopReason('The buyer asked for it.')).toBe('The buyer asked for it.');
  expect(stopReason(null)).toBe('');
});
