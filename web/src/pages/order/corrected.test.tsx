// The order's page says what its delivery alone knows.
import { cleanup, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { Lines } from './Lines';
import { OrderFacts } from './OrderFacts';
import type { Order } from './types';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const files = [{ itemId: 'itm_1', fileId: 'f', kind: 'preset', name: 'Lead', status: 'shared' }];
const line = { lineId: '#1', title: 'Lead', result: 'delivers', matchedBy: 'sku', fileId: null, quantity: 1, refundedQuantity: 0, files, fileCount: 1 }; // prettier-ignore
const order = (targetUsername: string | null, dryRun = false) =>
  ({ id: 'ord_0a1b2c3d4e5f6', deliveryId: 'del_0a1b2c3d4e5f6', targetUsername, deliveryUsername: 'lena', dryRun, customerEmail: null, orderId: '1', eventId: 'e', receivedAt: '2026-11-22T08:15:30.000Z', updatedAt: '2026-11-22T08:15:30.000Z', lines: [line] }) as unknown as Order; // prettier-ignore

test.each([
  [null, '@lenaThe order names nobody.'],
  ['lena_hartwig', '@lenaThe order says @lena_hartwig.'],
  ['lena', '@lenaAs the order says'],
])('the buyer is who the delivery is for; the order says %s', async (said, shown) => {
  await show(<OrderFacts it={order(said)} />);
  await vi.waitFor(() => expect(screen.getByText('Username').nextElementSibling?.textContent).toBe(shown));
});

test('a rehearsal shared nothing', async () => {
  await show(<Lines it={order('lena')} />);
  await screen.findByText('Shared');
  cleanup();
  await show(<Lines it={order('lena', true)} />);
  await screen.findByText('Would be shared');
});
