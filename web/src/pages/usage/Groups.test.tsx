import { cleanup, screen, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
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

test('a narrow row says of each number which one it is', async () => {
  const narrow = { matches: true, addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.spyOn(window, 'matchMedia').mockReturnValue(narrow as unknown as MediaQueryList);
  const deliveries = { made: 20, completed: 5, failed: 15, open: 0, invalidated: 0 };
  const it = { keyId: 'key_1', integrationId: null, name: 'Kiosk', requests: 978, limited: 55, deliveries };
  await show(<Groups groups={[it as never]} by="key" />);
  const row = (await screen.findByText('Kiosk')).closest('tr');
  for (const says of ['978 requests', '55 over the limit', '15 failed']) expect(row?.textContent).toContain(says);
  vi.restoreAllMocks();
});
