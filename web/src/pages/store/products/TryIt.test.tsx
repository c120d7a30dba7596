import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { TryIt } from './TryIt';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ID = 'int_0a1b2c3d4e5f6';
const file = { fileId: 'f1', kind: 'preset', fileName: 'AC Chime', paidQuantity: 1 };
const line = { lineId: '1', title: 'Clean Pack', sku: 'CLEAN', matchedBy: 'sku', outcome: 'delivers', fileIds: ['f1'] };

async function shown({ orderId = '1001', targetUsername = 'mira' as string | null, outcome = 'delivery', title = '' }) {
  serve(() => new Promise(() => undefined));
  const { client } = await show(<TryIt id={ID} mappings={null} />);
  const order = { id: 'ord_1', orderId, orderNumber: null, lineCount: 1, targetUsername, deliveryUsername: null };
  const preview = { outcome, lines: [{ ...line, title: title || line.title }], files: [file], credits: 1 };
  act(() => {
    client.setQueryData(queries.orders({ integrationId: ID, limit: 20 }).queryKey, { data: [order] } as never);
    client.setQueryData(['stores', 'preview', ID, orderId, null], preview);
  });
  await screen.findByText('AC Chime');
  const part = screen.getByRole('complementary');
  const marks = [...part.querySelectorAll('svg[data-colour]')].map((one) => one.getAttribute('data-colour'));
  return { text: (part.textContent ?? '').replace(/[\u2066-\u2069]/g, ''), marks };
}

test('an order that would be delivered says what it would cost', async () => {
  const { text, marks } = await shown({});
  expect(marks).toEqual(['teal']);
  expect(text).toMatch(/Clean Pack.*AC Chime.*Buyer gets 1 file.*would cost 1 credit$/);
});

test('a test order names the product by which it was made', async () => {
  const { text } = await shown({ orderId: 'test-1', title: 'Test order' });
  expect(text).toContain('CLEAN');
  expect(text).not.toContain('Test order');
});

test('a cancelled order says so first, and gives nobody a file', async () => {
  const { text, marks } = await shown({ outcome: 'stopped' });
  expect(text).toMatch(/It was cancelled or refunded\..*AC Chime$/);
  expect(marks).toEqual(['grey']);
});

test('nobody gets the files of an order without a username', async () => {
  const { text, marks } = await shown({ targetUsername: null });
  expect(text).toContain('Nobody gets the file until the order has a username.');
  expect(text).not.toContain('Buyer gets');
  expect(marks).toEqual(['grey']);
});
