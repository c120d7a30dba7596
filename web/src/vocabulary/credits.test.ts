import '@/i18n/en/credits';
import { describe, expect, test } from 'vitest';
import {
  amount,
  ledgerNote,
  ledgerWord,
  payUrl,
  purchaseLine,
  purchaseLook,
  purchaseWord,
  receiptUrl,
  type LedgerKind,
  type Purchase,
} from './credits';

const bought: Purchase = {
  id: 'pur_0a1b2c3d4e5f6',
  state: 'pending',
  packId: 'small',
  packName: '100 credits',
  credits: 100,
  amount: 1900,
  currency: 'eur',
  live: true,
  url: 'https://pay.example/cs_1',
  receiptUrl: null,
  creditsGranted: 0,
  creditsReversed: 0,
  amountRefunded: 0,
  amountDisputed: 0,
  problem: null,
  createdAt: '2026-11-21T10:06:23.000Z',
  expiresAt: '2026-11-21T10:51:23.000Z',
  paidAt: null,
};

describe('a purchase', () => {
  test('is paid at a web address alone, and while it is pending', () => {
    expect(payUrl(bought)).toBe('https://pay.example/cs_1');
    expect(payUrl({ ...bought, url: 'javascript:alert(1)' })).toBeNull();
    expect(payUrl({ ...bought, state: 'paid' })).toBeNull();
    expect(receiptUrl({ ...bought, receiptUrl: ' javascript:alert(1)' })).toBeNull();
  });
  test('that no page is open for waits for the bank', () => {
    expect(purchaseLine(bought)).toMatch(/^pay by /);
    expect(purchaseLine({ ...bought, url: null })).toBe('the bank has not confirmed');
  });
  test('tells what money went back, and why nothing was granted', () => {
    expect(purchaseLine({ ...bought, state: 'refunded', amountRefunded: 950 })).toBe('€9.50 went back');
    expect(purchaseLine({ ...bought, state: 'failed', problem: 'Of another amount.' })).toBe('Of another amount.');
  });
  test('of which a part went back is refunded in part', () => {
    const refunded = (amountRefunded: number) => purchaseWord({ ...bought, state: 'refunded', amountRefunded });
    expect([refunded(1000), refunded(1900), purchaseWord(bought)]).toEqual([
      'Partly refunded',
      'Refunded',
      'Not paid yet',
    ]);
  });
  test('in a state that is newer than this page has the grey circle', () => {
    expect(purchaseLook('constructor')).toEqual(['circle', 'grey']);
  });
});

test('the ledger tells what adds and what takes', () => {
  expect([amount('purchase', 1000), amount('spend', 1), amount('debt_paid', 3), amount('newer', 3)]).toEqual([
    '+1,000',
    '−1',
    '3',
    '3',
  ]);
});

test('the ledger tells a refund from a dispute, and says both where nobody knows', () => {
  const said = (kind: LedgerKind, cause: 'refund' | 'dispute' | null) => ledgerWord({ kind, cause });
  expect([said('reversal', 'refund'), said('reversal', 'dispute'), said('reversal', null)]).toEqual([
    'Refunded: the money went back',
    'Disputed: a payment is in doubt',
    'Refunded or disputed',
  ]);
  expect([said('reversal_undone', 'refund'), said('reversal_undone', 'dispute'), said('spend', null)]).toEqual([
    'Given back: a refund failed',
    'Given back: a dispute was won',
    'Preset shared',
  ]);
});

test('the note of a share names the preset alone, and other notes stay as they are', () => {
  expect(ledgerNote({ kind: 'spend', note: 'shared Plexi <b>shared</b>' })).toBe('Plexi <b>shared</b>');
  expect(ledgerNote({ kind: 'grant', note: 'shared with love' })).toBe('shared with love');
});
