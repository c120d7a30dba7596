import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { Toasts } from '@/components/toasts';
import { failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Order } from './types';
import { OutcomePanel } from './OutcomePanel';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const line = (more: Partial<Order['lines'][number]>) => ({ result: 'delivers', matchedBy: 'sku', ...more }) as Order['lines'][number]; // prettier-ignore
const anOrder = (more: Partial<Order>) =>
  ({
    id: 'ord_0a1b2c3d4e5f6',
    outcome: 'delivery',
    deliveryId: 'del_0a1b2c3d4e5f6',
    reason: 'The files that the order’s lines are mapped to are delivered.',
    erased: false,
    lines: [line({}), line({ result: 'unmapped', matchedBy: 'sku' }), line({ result: 'unmapped', matchedBy: null })],
    ...more,
  }) as Order;

test('an erased order promises nothing', async () => {
  await show(<OutcomePanel it={anOrder({})} />);
  await screen.findByText(/The files that the order’s lines are mapped to are delivered/);
  cleanup();
  await show(<OutcomePanel it={anOrder({ erased: true })} />);
  await screen.findByText('The buyer’s personal data was removed');
  expect(document.body.textContent).toBe('The buyer’s personal data was removedOpen the delivery');
});

test('an order that waits for credits says that it goes on by itself, and where they are bought', async () => {
  const { client } = await show(
    <OutcomePanel it={anOrder({ deliveryStatus: 'failed', resolutionCode: 'insufficient_credits' })} />,
  );
  act(() => void client.setQueryData(queries.packs().queryKey, { data: [{ id: 'small' }] } as never));
  await screen.findByText('It waits for credits, and goes on by itself once there are enough.');
  await screen.findByRole('link', { name: 'Buy credits' });
});

test.each([
  ['failed', 'insufficient_credits', 'Waiting for credits: 3 needed.'],
  ['failed', 'username_missing', 'Processed again: Failed, Username missing.'],
  ['queued', null, 'Processed again: Queued.'],
] as const)('processing it again says what came of it: %s, %s', async (deliveryStatus, resolutionCode, says) => {
  serve(({ method }) =>
    Response.json(method === 'POST' ? anOrder({ deliveryStatus, resolutionCode }) : failedFor('insufficient_credits')),
  );
  await show(
    <>
      <OutcomePanel it={anOrder({})} />
      <Toasts />
    </>,
  );
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Process again' }));
  await screen.findByText(says);
});

test('products that have presets since then had none when the order came', async () => {
  const lines = [line({ result: 'unmapped', matchedBy: 'sku' })];
  await show(<OutcomePanel it={anOrder({ outcome: 'no_mapped_items', deliveryId: null, lines })} />);
  await screen.findByText('None of its products had a preset when it came. Its products have presets now.');
});
