import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import type { Order } from './types';
import { OutcomePanel } from './OutcomePanel';

afterEach(cleanup);

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
