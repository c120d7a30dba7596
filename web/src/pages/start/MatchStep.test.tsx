import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { clearToasts, Toasts } from '@/components/toasts';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Store } from '@/vocabulary/store';
import { MatchStep } from './MatchStep';

afterEach(() => {
  cleanup();
  act(clearToasts);
  vi.unstubAllGlobals();
});

const store = {
  id: 'int_shop',
  name: 'Shop',
  provider: 'provider_a',
  lastOrderAt: '2026-11-22T10:00:00.000Z',
} as Store;
const product = { title: 'Plexi Pack', sku: 'PLEXI', productId: null, variantId: null, mappedBy: null, soldCount: 1 };
const preset = { id: 'f1', name: 'Plexi pack', kind: 'preset' };
const mappings = [
  { matchType: 'sku', matchValue: 'PLEXI', action: 'deliver', fileId: 'f1', kind: 'preset', fileName: 'Plexi pack' },
];

async function open({ skipped = 1, before = 0, available = 5, refused = false } = {}) {
  const sent: unknown[] = [];
  serve(async (request) => {
    const path = request.url.split('/').at(-1) ?? '';
    const body: unknown = await request.json();
    if (path === 'preview')
      return Response.json({ reprocessableOrders: skipped, reprocessableOrdersExact: true, reprocessableCredits: 3 });
    sent.push([path, body]);
    if (path === 'mappings') return Response.json({ version: 2, mappings });
    return refused
      ? Response.json({ error: { code: 'LIMIT_REACHED', message: 'Five jobs are under way.' } }, { status: 409 })
      : Response.json({}, { status: 202 });
  });
  const done = vi.fn();
  const { client } = await show(
    <>
      <MatchStep store={store} onDone={done} />
      <Toasts />
    </>,
  );
  act(() => {
    client.setQueryData(queries.presets('').queryKey, { data: [preset], nextCursor: null } as never);
    client.setQueryData(queries.credits().queryKey, { available, lowThreshold: 0 } as never);
    client.setQueryData(queries.products('int_shop', { limit: 20 }).queryKey, {
      data: [product],
      nextCursor: null,
    } as never);
    client.setQueryData(queries.mappings('int_shop').queryKey, { version: 1, mappings: [] } as never);
    for (const [asked, reprocessableOrders] of [
      [mappings, skipped],
      ['saved', before],
    ] as const)
      client.setQueryData(['stores', 'reprocessable', 'int_shop', asked], {
        reprocessableOrders,
        reprocessableOrdersExact: true,
        reprocessableCredits: 3,
      });
  });
  return { client, sent, done, user: userEvent.setup() };
}

test('an order that came before its product was matched is delivered with the save', async () => {
  const { sent, done, user } = await open();
  const button = await screen.findByRole('button', { name: 'Save and deliver 1 order' });
  screen.getByText(
    /^1 skipped order can be delivered after saving\. Delivering costs 3 credits at most\. You have 5\.$/,
  );
  await user.click(button);
  await waitFor(() => expect(done).toHaveBeenCalledOnce());
  expect(sent).toEqual([
    ['mappings', { mappings, version: 1 }],
    ['reprocess', { integrationId: 'int_shop', unmapped: true }],
  ]);
  screen.getByText('Saved. 1 order is on its way.');
});

test('the matches are saved alone too, and alone where no order was skipped', async () => {
  const first = await open();
  await first.user.click(await screen.findByRole('button', { name: 'Save matches' }));
  await waitFor(() => expect(first.done).toHaveBeenCalledOnce());
  expect(first.sent).toEqual([['mappings', { mappings, version: 1 }]]);
  cleanup();
  await open({ skipped: 0 });
  await screen.findByRole('button', { name: 'Save matches' });
  expect(screen.queryByRole('button', { name: /deliver/ })).toBeNull();
});

test('without the credits for the order, and where it needs no save, saving comes first', async () => {
  await open({ available: 2 });
  const deliver = await screen.findByRole('button', { name: 'Save and deliver 1 order' });
  expect(deliver.dataset.variant).toBe('default');
  const save = screen.getByRole('button', { name: 'Save matches' });
  expect(save.dataset.variant).toBe('filled');
  expect(save.compareDocumentPosition(deliver)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  screen.getByText(/Delivering needs 3 credits at most, and you have 2\.$/);
  await userEvent.setup().click(deliver);
  await screen.findByText('Saved. 1 order is being processed. Without enough credits it waits for them.');
  cleanup();
  await open({ before: 1 });
  expect((await screen.findByRole('button', { name: 'Save matches' })).dataset.variant).toBe('filled');
  expect(screen.queryByRole('button', { name: /deliver/ })).toBeNull();
});

test('a delivery that is refused is said, and the guide goes on', async () => {
  const { done, user } = await open({ refused: true });
  await user.click(await screen.findByRole('button', { name: 'Save and deliver 1 order' }));
  await waitFor(() => expect(done).toHaveBeenCalledOnce());
  screen.getByText('Saved, but the orders are not delivered yet. Five jobs are under way.');
});

test('the field for a product asks for what the switch says', async () => {
  const { user } = await open();
  await screen.findByPlaceholderText('Title of a product');
  await user.click(screen.getByText('SKU'));
  await screen.findByPlaceholderText('SKU of a product');
  expect(screen.queryByPlaceholderText(/title/i)).toBeNull();
});

test('without products the step says why, and leads to the import of a CSV', async () => {
  const { client } = await open();
  const came = (test: boolean) =>
    act(() => {
      client.setQueryData(queries.products('int_shop', { limit: 20 }).queryKey, {
        data: [],
        nextCursor: null,
      } as never);
      const order = { orderId: '1', orderNumber: '#1', targetUsername: 'mira', test };
      client.setQueryData(queries.orders({ integrationId: 'int_shop', limit: 100 }).queryKey, {
        data: [order],
      } as never);
    });
  came(true);
  await screen.findByText(/^That was a sample order/);
  came(false);
  await screen.findByText(/^The products of your order show up here by themselves\./);
  const link = screen.getByRole('link', { name: 'import a CSV' });
  expect(link.getAttribute('href')).toBe('/integrations/stores/int_shop/products');
});
