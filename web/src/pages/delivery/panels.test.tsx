import { cleanup, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hoursMinutes } from '@/i18n/format';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';

const LATER = '2999-11-22T13:21:05.000Z';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('what was stopped is reopened where that is allowed, and an erased one says why not', async () => {
  const stopped = (reason: string, allowedActions: 'reopen'[]) => {
    const it = aDelivery({ status: 'invalidated', reason, allowedActions });
    return show(
      <Questions it={it}>
        <DeliveryPanel it={it} />
      </Questions>,
    );
  };
  const why = 'What it needs of the buyer is gone, so it cannot be reopened.';
  await stopped('not ours', ['reopen']);
  await screen.findByRole('button', { name: 'Reopen' });
  expect(screen.queryByText(why)).toBeNull();
  cleanup();
  await stopped('erased', []);
  await screen.findByText(why);
  expect(screen.queryByRole('button', { name: 'Reopen' })).toBeNull();
});

test('a risky order is said to cost what is owed and was never charged', async () => {
  const items = itemsOf(
    {},
    { credits: 1 },
    { status: 'shared', credits: 1 },
    { status: 'shared', former: true, credits: 1 },
  );
  const it = aDelivery({ status: 'in_review', reviewReason: 'high_risk', allowedActions: ['approve'], ...items });
  await show(
    <Questions it={it}>
      <DeliveryPanel it={it} />
    </Questions>,
  );
  await screen.findByText('The shop rates this order as likely fraud. 3 presets, 1 credit.');
});

test.each([
  [{ products: 1312, files: null, limit: 250 }, 'This order has 1,312 products; the limit is 250. Share them by hand'],
  [{ products: null, files: 501, limit: 500 }, 'This order has 501 files; the limit is 500. Share them by hand'],
  [null, 'Too large to deliver by itself. Share the files by hand'],
])('an order that is too large is said to have %j', async (size, words) => {
  const it = aDelivery({ status: 'in_review', reviewReason: 'too_large', size, allowedActions: ['complete'] });
  await show(
    <Questions it={it}>
      <DeliveryPanel it={it} />
    </Questions>,
  );
  await screen.findByText(new RegExp(words));
  screen.getByRole('button', { name: 'Mark as delivered by hand…' });
  expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
});

test.each([
  ['is queued', { queuePosition: 2, attemptCount: 0 }, 'QueuedAbout number 2 in line'],
  ['is queued again', { queuePosition: 1 }, 'Queued again for @jonasek_. About number 1 in line.'],
  [
    'is queued again for later',
    { queuePosition: 9, estimatedAt: LATER },
    `Queued again for @jonasek_. About ${hoursMinutes(LATER)}, number 9 in line.`,
  ],
  ['is queued again behind many', { queuePosition: 1001 }, 'Queued again for @jonasek_. More than 1,000 ahead of it.'],
  [
    'is tried again later',
    { queuePosition: 9, nextAttemptAt: LATER },
    `Queued again for @jonasek_. Again at ${hoursMinutes(LATER)}.`,
  ],
  [
    'waits for its next attempt',
    { queuePosition: null, nextAttemptAt: '2999-01-01T00:00:00.000Z' },
    /^QueuedAgain at /,
  ],
  ['is being shared', { status: 'processing', sharedCount: 1, itemCount: 3 }, 'In progressSharing 2 of 3'],
] as const)('a delivery that %s has one line', async (_, more, words) => {
  const it = aDelivery(more);
  const { container } = await show(
    <Questions it={it}>
      <DeliveryPanel it={it} />
    </Questions>,
  );
  expect(container.textContent).toMatch(words);
});
