import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { partRefunded } from '@/vocabulary/order';
import { DeliveryFacts } from './DeliveryFacts';
import { LazyActions } from './LazyActions';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const line = (quantity: number, refundedQuantity: number) => ({ quantity, refundedQuantity });

test.each([
  [[line(1, 1), line(1, 0)], { n: 1, total: 2 }],
  [[line(3, 1)], { n: 1, total: 3 }],
  [[line(1, 1), line(2, 2)], null],
  [[line(1, 0)], null],
  [undefined, null],
])('a refund of a part is said in numbers: %j', (lines, says) => {
  expect(partRefunded(lines)).toEqual(says);
});

test.each([
  [['shared', 'already_shared'], 'After the refund the buyer still has 2 of 2 presets.'],
  [['shared', 'revoked', 'dropped'], 'After the refund the buyer still has 1 of 2 presets.'],
  [['revoked', 'revoked'], 'After the refund the buyer still has 0 of 2 presets.'],
  [['revoked', 'revoking'], 'After the refund the buyer still has 1 of 2 presets.'],
  [['shared', 'revoked', 'stays'], 'After the refund the buyer still has 2 of 3 presets.'],
  [['shared', 'owed'], null],
  [['revoke_failed'], 'After the refund the buyer still has the preset.'],
  [['delivered_by_hand'], 'After the refund the buyer still has the preset.'],
  [['revoked'], null],
  [['owed', 'dropped'], null],
] as const)('after a refund the presets say what the buyer still has: %j', async (statuses, says) => {
  const items = itemsOf(
    ...statuses.map((status) =>
      status === 'stays' ? ({ status: 'revoked', staysWithCustomer: true } as const) : { status },
    ),
  );
  const page = (more: Parameters<typeof aDelivery>[0]) => {
    cleanup();
    const it = aDelivery({ status: 'completed', ...items, ...more });
    return show(
      <Questions it={it}>
        <DeliveryFacts it={it} />
      </Questions>,
    );
  };
  const found = () => screen.queryByText(/^After the refund/)?.textContent ?? null;
  await page({ refunded: true, refundedInPart: true });
  await screen.findByRole('heading', { name: 'Presets' });
  expect(found()).toBe(says);
  await page({});
  await screen.findByRole('heading', { name: 'Presets' });
  expect(found()).toBeNull();
});

const why = 'Your shop refunded this order, so there is nothing left to deliver.';
const stopped = (reason: string, status: 'dropped' | 'owed') => {
  const items = aDelivery().items.map((item) => ({ ...item, status }));
  const it = aDelivery({ status: 'invalidated', reason, refunded: true, allowedActions: ['reopen'], items });
  return show(
    <Questions it={it}>
      <LazyActions it={it} />
      <DeliveryPanel it={it} />
    </Questions>,
  );
};

test('a delivery of which refunds left nothing is reopened from the menu alone', async () => {
  await stopped('order_refunded', 'dropped');
  await screen.findByText(why);
  expect(screen.queryByRole('button', { name: 'Reopen' })).toBeNull();
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Reopen…' }));
  expect((await screen.findByRole('dialog')).textContent).toContain(
    'Nothing of it is left to deliver. If you approve it, it stops again, until your shop reports it as paid.',
  );
});

test.each([
  ['order_refunded', 'owed'],
  ['not ours', 'dropped'],
] as const)('other stops are reopened beside their reason: %s, %s', async (reason, status) => {
  await stopped(reason, status);
  await screen.findByRole('button', { name: 'Reopen' });
  expect(screen.queryByText(why)).toBeNull();
});
