import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Draft, Match } from '../store/products/draft';
import { SaveMatches } from './SaveMatches';
import type { Order } from './types';

afterEach(cleanup);

const it = { id: 'ord_0a1b2c3d4e5f6', integrationId: 'int_0a1b2c3d4e5f6', orderId: '1', dryRun: false } as Order;
const file = { fileId: 'f1', kind: 'preset', fileName: 'Lead', stale: false };
const match: Match = { matchType: 'sku', matchValue: 'LEAD-1', ignored: false, files: [file] };
const draft: Draft = new Map([['sku LEAD-1', match]]);
const mappings = [
  { matchType: 'sku', matchValue: 'LEAD-1', action: 'deliver', fileId: 'f1', kind: 'preset', fileName: 'Lead' },
];

test.each([
  [3, 'default', 'filled', 'Delivering it costs 3 credits. You have 3.'],
  [2, 'filled', 'default', 'Delivering it needs 3 credits, and you have 2.'],
])('saving comes first where the credits do not suffice: %s', async (available, save, deliver, says) => {
  const { client } = await show(<SaveMatches it={it} draft={draft} onDone={() => undefined} />);
  act(() => {
    client.setQueryData(queries.mappings(it.integrationId).queryKey, { version: 1, mappings: [] } as never);
    client.setQueryData(queries.credits().queryKey, { available, lowThreshold: 0 } as never);
    client.setQueryData(['stores', 'preview', it.integrationId, it.orderId, mappings], {
      outcome: 'delivery',
      files: [],
      credits: 3,
      lines: [],
    });
  });
  await screen.findByText(says);
  const variantOf = (name: string) => screen.getByRole('button', { name }).dataset.variant;
  expect([variantOf('Save'), variantOf('Save and deliver')]).toEqual([save, deliver]);
});
