// After a refund the page says what the buyer still has, and offers to take it back.
import { act, cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { DeliveryFacts } from './DeliveryFacts';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import type { Delivery } from './types';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const three = itemsOf(
  { status: 'shared', fileId: 'f-1' },
  { status: 'already_shared', fileId: 'f-2' },
  { status: 'shared', fileId: 'f-3' },
);
const refundedOne = { status: 'completed', completedAt: '2026-11-22T14:00:00.000Z', refunded: true } as const;
const line = (refundedQuantity: number, ...files: string[]) => ({
  lineId: '#1', title: 'Tweed', sku: null, productId: null, quantity: 1, refundedQuantity, files: files.map((fileId) => ({ fileId })),
}); // prettier-ignore

async function page(more: Partial<Delivery>, { lines, autoRevoke }: { lines?: object[]; autoRevoke?: boolean } = {}) {
  const it = aDelivery({ ...three, ...refundedOne, allowedActions: ['revoke'], ...more });
  const { client } = await show(
    <Questions it={it}>
      <DeliveryPanel it={it} />
      <DeliveryFacts it={it} />
    </Questions>,
  );
  act(() => {
    client.setQueryData(queries.order('ord_0a1b2c3d4e5f6').queryKey, (lines ? { lines } : undefined) as never);
    if (autoRevoke !== undefined)
      client.setQueryData(queries.stores().queryKey, {
        data: [{ id: it.integrationId, settings: { autoRevoke } }],
      } as never);
  });
  await screen.findByRole('heading', { name: 'Presets' });
  return userEvent.setup();
}
const WHOLE = 'The buyer still has 3 of 3 presets after the refund';

test('a refunded order offers to take its presets back, and says so once', async () => {
  const user = await page({}, { autoRevoke: false });
  const panel = within(await screen.findByRole('region', { name: WHOLE }));
  const said = panel.getByRole('link', { name: 'its settings' }).parentElement;
  expect(said?.textContent).toBe(
    'marlowtones.com does not take presets back on a refund by itself. You can switch that on in its settings.',
  );
  expect(panel.getByRole('link', { name: 'its settings' }).getAttribute('href')).toBe(
    '/integrations/stores/int_0a1b2c3d4e5f6/settings',
  );
  expect(screen.queryByText(/^After the refund/)).toBeNull();
  await user.click(panel.getByRole('button', { name: 'Take presets back…' }));
  await screen.findByRole('dialog', { name: 'Take 3 presets back from @jonasek_?' });
});

test('a store that takes presets back, or is not known, is not named', async () => {
  await page({}, { autoRevoke: true });
  await screen.findByRole('region', { name: WHOLE });
  expect(screen.queryByRole('link', { name: 'its settings' })).toBeNull();
  cleanup();
  await page({});
  await screen.findByRole('region', { name: WHOLE });
  expect(screen.queryByRole('link', { name: 'its settings' })).toBeNull();
});

test('of a part, only the refunded presets are taken back', async () => {
  const lines = [{ ...line(1, 'f-1', 'f-2') }, { ...line(0, 'f-3'), title: 'Modern' }];
  const user = await page({ refundedInPart: true }, { lines });
  const panel = within(await screen.findByRole('region', { name: 'The buyer still has 2 refunded presets' }));
  expect(screen.getAllByText('Refunded: Tweed.')).toHaveLength(1);
  await user.click(panel.getByRole('button', { name: 'Take presets back…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Take 2 presets back from @jonasek_?' });
  expect(dialog.textContent).toContain('Preset 1, Preset 2');
  expect(dialog.textContent).not.toContain('still paid for');
  cleanup();

  await page({ refundedInPart: true }, { lines: [line(1, 'f-1'), line(0, 'f-2', 'f-3')] });
  await screen.findByRole('region', { name: 'The buyer still has the refunded preset' });
  const [first] = screen.getAllByRole('button', { name: 'Take Preset 1 back…' });
  expect(first?.textContent).toBe('Take Preset 1 back…');
});

test.each([
  ['nothing was refunded', { refunded: false }, undefined],
  ['a product without presets was refunded', { refundedInPart: true }, [line(1), line(0, 'f-1', 'f-2', 'f-3')]],
  ['the products are not known', { refundedInPart: true }, undefined],
  ['it cannot be taken back', { allowedActions: [] }, undefined],
  ['all was taken back', itemsOf({ status: 'revoked' }, { status: 'revoking' }), undefined],
] as [string, Partial<Delivery>, object[] | undefined][])('nothing is offered where %s', async (_, more, lines) => {
  await page(more, { lines, autoRevoke: false });
  expect(screen.queryByRole('region', { name: /still has/ })).toBeNull();
});
