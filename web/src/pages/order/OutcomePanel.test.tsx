import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { clearToasts, Toasts } from '@/components/toasts';
import { failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Order } from './types';
import '../store/products/FilePicker'; // loaded before it is opened
import { Lines } from './Lines';
import { OutcomePanel } from './OutcomePanel';

afterEach(() => {
  cleanup();
  act(clearToasts);
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
    allowedActions: ['reprocess'],
    lines: [line({}), line({ result: 'unmapped', matchedBy: 'sku' }), line({ result: 'unmapped', matchedBy: null })],
    ...more,
  }) as Order;

test('an erased order promises nothing', async () => {
  await show(<OutcomePanel it={anOrder({})} />);
  await screen.findByText(/^1 product had no preset when the order came, and has presets now\.$/);
  cleanup();
  await show(<OutcomePanel it={anOrder({ erased: true, allowedActions: [] })} />);
  await screen.findByText('The buyer’s personal data was removed');
  expect(document.body.textContent).toBe('The buyer’s personal data was removedOpen the delivery');
});

test('an order that failed for want of credits says that it goes on by itself, and where they are bought', async () => {
  const { client } = await show(
    <OutcomePanel it={anOrder({ deliveryStatus: 'failed', resolutionCode: 'insufficient_credits' })} />,
  );
  act(() => void client.setQueryData(queries.packs().queryKey, { data: [{ id: 'small' }] } as never));
  await screen.findByText('It failed for want of credits, and goes on by itself once there are enough.');
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

test.each(['completed', 'invalidated'] as const)('an order whose delivery stays %s has nothing new', async (status) => {
  serve(() => Response.json(anOrder({ deliveryStatus: status })));
  await show(
    <>
      <OutcomePanel it={anOrder({ deliveryStatus: status })} />
      <Toasts />
    </>,
  );
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Process again' }));
  await screen.findByText('Processed again. Nothing new is to be delivered.');
});

test('products that have presets since then had none when the order came', async () => {
  const lines = [line({ result: 'unmapped', matchedBy: 'sku' })];
  await show(<OutcomePanel it={anOrder({ outcome: 'no_mapped_items', unmappedCount: 1, deliveryId: null, lines })} />);
  await screen.findByText('None of its products had a preset when it came. Its products have presets now.');
});

const unmapped = { result: 'unmapped', matchedBy: null, fileId: null, sku: 'TONE-1' } as const;
const nothing = { outcome: 'no_mapped_items', deliveryId: null } as const;

test('an order whose product has no preset waits for its match, whose choice the panel opens', async () => {
  const scroll = vi.fn();
  Element.prototype.scrollIntoView = scroll;
  const lines = [line({ ...unmapped, lineId: '#1', title: 'Tone' })];
  const it = anOrder({ ...nothing, unmappedCount: 1, lines });
  await show(
    <>
      <OutcomePanel it={it} />
      <Lines it={it} />
    </>,
  );
  await screen.findByRole('heading', { name: 'It waits for a match' });
  expect(screen.queryByText('No preset')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Process again' })).toBeNull();
  await userEvent.setup().click(screen.getByRole('button', { name: 'Match this product' }));
  const field = await screen.findByLabelText('Presets for Tone', { selector: 'input' });
  await vi.waitFor(() => expect(document.activeElement).toBe(field));
  expect(scroll).toHaveBeenCalledWith({ block: 'center' });
});

test.each([
  [[line({}), line(unmapped)], ['1 product has no preset. Choose one below and the order is delivered in full.']],
  [
    [line({}), line({ ...unmapped, matchedBy: 'sku' })],
    ['1 product had no preset when the order came, and has presets now.'],
  ],
])('a part without presets is said once: %#', async (lines, says) => {
  const reason = 'One of the order’s 2 lines has no mapping and is not delivered.';
  await show(<OutcomePanel it={anOrder({ lines, reason })} />);
  await screen.findByRole('heading', { name: 'It has a delivery' });
  const texts = [...document.querySelectorAll('section p')].map(({ textContent }) => textContent).filter(Boolean);
  expect(texts).toEqual(says);
});

test('an order of which all is ignored is no trouble', async () => {
  const it = anOrder({ ...nothing, unmappedCount: 0, lines: [line({ result: 'ignored' })] });
  await show(<OutcomePanel it={it} />);
  const panel = await screen.findByRole('region', { name: 'Nothing to deliver' });
  expect(panel.dataset.tone).toBe('plain');
});

test.each([
  [
    { refunded: true, lines: [line({ quantity: 1, refundedQuantity: 1 })] },
    /All of it was refunded, so nothing more is/,
    0,
  ],
  [{ cancelled: true }, /Your shop cancelled it, so nothing more is delivered/, 0],
  [{ refunded: true, lines: [line({ quantity: 2, refundedQuantity: 1 })] }, /refunded products are not delivered/, 1],
  [{ cancelled: true, test: true }, /No such words/, 1],
  [{ refunded: true, allowedActions: [] }, /No such words/, 0],
] as const)('an order that is over is not offered to be processed again: %j', async (more, says, offers) => {
  await show(<OutcomePanel it={anOrder(more as unknown as Partial<Order>)} />);
  await screen.findByText('It has a delivery');
  expect(screen.queryAllByText(says)).toHaveLength(String(says).includes('No such') ? 0 : 1);
  expect(screen.queryAllByRole('button', { name: 'Process again' })).toHaveLength(offers);
});

test.each([
  ['failed', 'username_not_found', 'It was not delivered: Username not found'],
  ['in_review', null, 'It waits for your approval'],
] as const)(
  'an order that needs the merchant says so, and leads to what solves it: %s',
  async (deliveryStatus, resolutionCode, title) => {
    const lines = [line({})];
    await show(<OutcomePanel it={anOrder({ lines, deliveryStatus, resolutionCode })} />);
    await screen.findByRole('heading', { name: title });
    expect(screen.getByRole('link', { name: 'Solve it' }).getAttribute('href')).toBe('/deliveries/del_0a1b2c3d4e5f6');
    expect(screen.queryByRole('button', { name: 'Process again' })).toBeNull();
    cleanup();
    await show(<OutcomePanel it={anOrder({ lines, deliveryStatus: 'completed', resolutionCode: null })} />);
    await screen.findByRole('link', { name: 'Open the delivery' });
    screen.getByRole('button', { name: 'Process again' });
  },
);

test.each([
  [true, ['reprocess'], 'The store is on now. Its products have presets now.', 'Deliver this order'],
  [false, [], 'The store is still off. Switch it on, then deliver the order.', 'Switch on Marlow EU'],
] as const)(
  'an order that came while its store was off says whether it still is: %s',
  async (active, allowed, says, offers) => {
    const store = { id: 'int_0a1b2c3d4e5f6', name: 'Marlow EU', active };
    const sent: unknown[] = [];
    serve(async (request) => {
      if (request.method === 'PATCH') sent.push(await request.json());
      return Response.json({ data: [store], nextCursor: null });
    });
    const it = anOrder({
      integrationId: store.id,
      outcome: 'inactive',
      deliveryId: null,
      reason: 'The store was inactive when the order came.',
      allowedActions: [...allowed],
      lines: [line({ result: 'not_mapped_yet' })],
    });
    await show(<OutcomePanel it={it} />);
    await screen.findByRole('heading', { name: 'The store was off when it came' });
    await screen.findByText(says);
    await screen.findByRole('button', { name: offers });
    expect(screen.getAllByRole('button')).toHaveLength(1);
    if (active) return;
    await userEvent.setup().click(screen.getByRole('button', { name: offers }));
    await vi.waitFor(() => expect(sent).toEqual([{ active: true }]));
  },
);

test.each([
  [{ lines: [line({})] }, []],
  [
    { outcome: 'stopped', cancelled: true, reason: 'The store cancelled the order.', lines: [line({})] },
    ['Your shop cancelled it, so nothing more is delivered.'],
  ],
  [
    { outcome: 'awaiting_payment', reason: 'The store says that the order is not paid.', lines: [line({})] },
    ['It goes on by itself once your shop says that it is paid.'],
  ],
] as const)('the text of the panel does not repeat its title: %#', async (more, says) => {
  await show(<OutcomePanel it={anOrder(more as unknown as Partial<Order>)} />);
  await screen.findByRole('heading');
  const texts = [...document.querySelectorAll('section p')].map(({ textContent }) => textContent);
  expect(texts).toEqual(says);
});
