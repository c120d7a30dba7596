import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Line } from './Line';
import type { Order } from './types';

afterEach(cleanup);

test.each([
  [null, 1],
  ['Warm Clean', 1],
])('a product with the title %s has its code once', async (title, times) => {
  const line = { lineId: '#1', title, sku: 'TONE-1', fileId: null, quantity: 1, refundedQuantity: 0, result: 'unmapped', matchedBy: null, files: [], fileCount: 0 } as unknown as Order['lines'][number]; // prettier-ignore
  await show(<Line line={line} store="int_1" />);
  expect(await screen.findAllByText('TONE-1')).toHaveLength(times);
});

test('a product that has presets since then says how many', async () => {
  const line = { lineId: '#1', title: 'Swells', sku: 'SWELLS-12', fileId: null, quantity: 1, refundedQuantity: 0, result: 'not_mapped_yet', matchedBy: 'sku', mappingIds: ['map_1', 'map_2'], files: [], fileCount: 0 } as unknown as Order['lines'][number]; // prettier-ignore
  await show(<Line line={line} store="int_1" />);
  await screen.findByText(/^Matches 2 presets now\./);
  expect(screen.queryByText(/Not matched yet/)).toBeNull();
});
