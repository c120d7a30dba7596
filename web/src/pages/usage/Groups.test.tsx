import { cleanup, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Groups } from './Groups';

afterEach(cleanup);

const deliveries = { made: 4, completed: 3, failed: 1, open: 0, invalidated: 0 };
const group = (keyId: string | null, requests: number) => ({
  keyId,
  integrationId: null,
  name: keyId && 'Website',
  requests,
  limited: 0,
  deliveries,
});

test('the numbers without a token stand under their headings, in a row that leads nowhere', async () => {
  await show(<Groups groups={[group(null, 377), group('key_1', 900)]} by="key" />);
  const row = (await screen.findByText('No token (webhooks of stores)')).closest('tr');
  const at = screen.getAllByRole('columnheader').findIndex(({ textContent }) => textContent === 'Requests');
  expect(row?.children[at]?.textContent).toBe('377');
  expect(row && within(row).queryByRole('link')).toBeNull();
  expect(screen.getByRole('link', { name: 'Website' })).toBeTruthy();
});
