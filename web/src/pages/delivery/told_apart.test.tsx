// Refunds, presets that were taken back, and orders that are too large: the page says which, and its next step.
import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { aDelivery, failedFor, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { DeliveryFacts } from './DeliveryFacts';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import { Timeline } from './Timeline';
import { TAKING_BACK } from './timeline';
import type { Delivery } from './types';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function page(it: Delivery, lines?: object[]) {
  const { client } = await show(
    <Questions it={it}>
      <DeliveryPanel it={it} />
      <DeliveryFacts it={it} />
      <Timeline it={it} />
    </Questions>,
  );
  act(() => void client.setQueryData(queries.order('ord_0a1b2c3d4e5f6').queryKey, { lines } as never));
  act(() => void client.setQueryData(queries.credits().queryKey, { available: 9 } as never));
  await screen.findByRole('heading', { name: 'Presets' });
}
const line = (title: string | null, refundedQuantity: number, ...files: string[]) => ({
  lineId: '#1', title, sku: 'SKU-1', productId: null, quantity: 1, refundedQuantity, files: files.map((fileId) => ({ fileId })),
}); // prettier-ignore
const two = itemsOf({ status: 'shared', fileId: 'f-1' }, { status: 'shared', fileId: 'f-2' });
const presets = () =>
  screen
    .getAllByRole('listitem')
    .map(({ textContent }) => textContent)
    .filter((text) => text.startsWith('Preset'));

test('of an order that was refunded in part, the products are named and their presets marked', async () => {
  const it = aDelivery({ ...two, status: 'completed', refunded: true, refundedInPart: true });
  await page(it, [line('Tweed', 1, 'f-1'), line('Modern', 0, 'f-2'), line(null, 1)]);
  expect(presets()).toEqual(['Preset 1Shared refunded', 'Preset 2Shared']);
  screen.getByText('Refunded: Tweed and SKU-1.');
  cleanup();

  // A preset that another product still pays for stays, and a whole refund needs no names.
  await page(it, [{ ...line('Tweed', 2, 'f-1'), quantity: 3 }, line('Modern', 0, 'f-2')]);
  expect(presets()).toEqual(['Preset 1Shared', 'Preset 2Shared']);
  screen.getByText('Refunded: 2 of 3 Tweed.');
  cleanup();
  await page(it, [line('Tweed', 1, 'f-1'), line('Modern', 1, 'f-2')]);
  expect(screen.queryByText(/^Refunded:/)).toBeNull();
  screen.getByText('After the refund the buyer still has 2 of 2 presets.');
});

const revoked = { status: 'revoked', credits: 1, fileId: 'f-1' } as const;
const again = (words: string) => `If you approve it, ${words}`;
test.each([
  [[revoked], {}, undefined, again('1 preset that was taken back is shared again. It costs nothing again.')],
  [[revoked, { ...revoked, credits: 0 }], {}, undefined, again('2 presets that were taken back are shared again. It costs 1 credit.')],
  [[revoked], { refunded: true }, [line('Tweed', 1, 'f-1')], null],
  [[{ status: 'shared' }], {}, undefined, null],
] as [Partial<Delivery['items'][number]>[], Partial<Delivery>, object[] | undefined, string | null][])(
  'an approval is said to share again what was taken back: %#',
  async (items, more, lines, says) => {
    const found = () => screen.queryByText(/taken back (is|are) shared again/)?.textContent ?? null;
    await page(aDelivery({ status: 'in_review', reviewReason: 'reopened', allowedActions: ['approve'], ...itemsOf(...items), ...more }), lines);
    expect(found()).toBe(says);
    cleanup();
    await page(aDelivery({ status: 'invalidated', reason: 'x', allowedActions: ['reopen'], ...itemsOf(...items), ...more }), lines);
    expect(found()).toBeNull();
    await userEvent.setup().click(screen.getByRole('button', { name: 'Reopen' }));
    await screen.findByText('Nothing is sent until you approve it.');
    expect(found()).toBe(says);
  },
); // prettier-ignore

test.each([
  ['in review', aDelivery({ status: 'in_review', reviewReason: 'too_large', ...itemsOf() })],
  ['failed', failedFor('order_too_large', itemsOf())],
])('an order that is too large has no list of presets, and leads to its products: %s', async (_, it) => {
  await page(it);
  const says = screen.getByText(/^An order of this size gets no list of presets/);
  expect(says.textContent).toBe('An order of this size gets no list of presets. Its products stand in the order.');
  expect(screen.getByRole('link', { name: 'the order' }).getAttribute('href')).toBe('/orders/ord_0a1b2c3d4e5f6');
  expect(screen.queryByText('Nothing of this order is matched to a preset.')).toBeNull();
});

const entry = (message: string, more = {}) => ({
  id: '1', at: '2026-11-22T13:21:05.000Z', type: 'note', kind: 'attempt', actor: 'system', actorName: null, status: 'queued',
  resolutionCode: null, message, attempt: 1, durationMs: null, itemId: null, data: {}, ...more,
}) as Delivery['timeline'][number]; // prettier-ignore

test('the history names what is left out as the presets do', async () => {
  await page(aDelivery({ timeline: [entry('No longer owed: Lead, Tweed 1.5 and 2 more. Owed instead: Modern.')] }));
  screen.getByText('Left out: Lead, Tweed 1.5 and 2 more. In its place: Modern.');
  cleanup();
  await page(aDelivery({ timeline: [entry('No longer owed: Lead.')] }));
  screen.getByText('Left out: Lead.');
});

test.each([
  [1, 'Ann asked to take the preset back'],
  [2, 'Ann asked to take presets back'],
])('who asked to take presets back is not said to have done it: %i', async (count, says) => {
  const items = itemsOf(...Array.from({ length: count }, () => ({ status: 'revoking' as const })), {
    status: 'dropped',
  });
  const asked = entry(TAKING_BACK, { type: 'action', actor: 'usr_1', actorName: 'Ann', status: 'completed' });
  await page(aDelivery({ status: 'completed', timeline: [asked], ...items }));
  await screen.findByText((_, element) => element?.textContent === says, { selector: 'div.strong, div > div' });
});
