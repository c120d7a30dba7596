import { cleanup, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';

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
