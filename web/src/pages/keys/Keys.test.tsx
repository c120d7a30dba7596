import { act, cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Keys } from './Keys';

const at = vi.hoisted(() => ({ search: {} }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => at.search }),
}));
afterEach(() => {
  cleanup();
  at.search = {};
});

const aKey = (id: string, active: boolean) =>
  ({
    id,
    name: id,
    preview: 'pdb_live_…abcd',
    active,
    permissions: ['deliveries:read'],
    integrationIds: [],
    rateLimit: 100,
    expiresAt: null,
    lastActiveAt: null,
    requests: 12_904,
    deliveries: 881,
    usedThisHour: 38,
  }) as unknown as Schemas['ApiKey'];
const rowsOf = (name: string) =>
  within(screen.getByRole('table', { name }))
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.textContent);

test('active tokens come first, with what they used this hour; inactive ones have pages', async () => {
  const { client } = await show(<Keys />);
  client.setQueryData(queries.activeKeys().queryKey, { data: [aKey('site', true)], nextCursor: null });
  const inactive = Array.from({ length: 50 }, (_, n) => aKey(`old-${n}`, false));
  client.setQueryData(queries.inactiveKeys({ limit: 50 }).queryKey, { data: inactive, nextCursor: 'cur_2' });
  await screen.findByRole('table', { name: 'Inactive tokens' });
  expect(rowsOf('API Tokens')).toEqual([expect.stringContaining('38 of 100')]);
  expect(rowsOf('Inactive tokens')).toHaveLength(50);
  expect(rowsOf('Inactive tokens')[0]).not.toContain('38 of 100');
  expect(screen.getAllByRole('table').map((table) => table.getAttribute('aria-label'))).toEqual([
    'API Tokens',
    'Inactive tokens',
  ]);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Older' }).disabled).toBe(false);
});

test('a token that ends says when', async () => {
  const { client } = await show(<Keys />);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  client.setQueryData(queries.activeKeys().queryKey, {
    data: [aKey('site', true), { ...aKey('before', true), expiresAt: tomorrow }],
    nextCursor: null,
  });
  await screen.findByRole('table', { name: 'API Tokens' });
  const [site, before] = rowsOf('API Tokens');
  expect(site).not.toContain('Until');
  expect(before).toMatch(/^before Until tomorrow, \d/);
});

test.each([
  [{ expiresAt: new Date(Date.now() + 86_400_000).toISOString() }, /The token that it replaced works until tomorrow/],
  [{ expiresAt: new Date(Date.now() - 86_400_000).toISOString() }, null],
] as const)('a deactivation says how long the token before still works: %#', async (former, says) => {
  const { client } = await show(<Keys />);
  client.setQueryData(queries.activeKeys().queryKey, {
    data: [
      { ...aKey('site', true), rotatedFrom: 'before' },
      { ...aKey('before', true), rotatedFrom: null, ...former },
    ],
    nextCursor: null,
  });
  client.setQueryData(queries.account().queryKey, { caller: { role: 'owner' } } as never);
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Actions of site' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Deactivate…' }));
  const dialog = await screen.findByRole('dialog');
  await within(dialog).findByText(/^Programs that use it get 403 at once/);
  if (says) await within(dialog).findByText(says);
  else expect(dialog.textContent).not.toContain('The token that it replaced');
});

test('a further page of inactive tokens is of its cursor', async () => {
  at.search = { at: 'cur_2' };
  const { client } = await show(<Keys />);
  client.setQueryData(queries.activeKeys().queryKey, { data: [], nextCursor: null });
  client.setQueryData(queries.inactiveKeys({ limit: 50, cursor: 'cur_2' }).queryKey, {
    data: [aKey('oldest', false)],
    nextCursor: null,
  });
  await screen.findByText('oldest');
  expect(screen.getByText('No token is active.')).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Newer' }).disabled).toBe(false);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Older' }).disabled).toBe(true);
});

test('without a token the button stands in the empty box alone', async () => {
  const { client } = await show(<Keys />);
  act(() => {
    client.setQueryData(queries.activeKeys().queryKey, { data: [], nextCursor: null });
    client.setQueryData(queries.inactiveKeys({ limit: 50 }).queryKey, { data: [], nextCursor: null });
    client.setQueryData(queries.account().queryKey, { caller: { role: 'owner' } } as never);
  });
  const title = await screen.findByText('No tokens yet');
  const buttons = await screen.findAllByRole('button', { name: 'Create token' });
  expect(buttons.map((button) => button.parentElement)).toEqual([title.parentElement]);
});

test('a narrow row says that its time is that of the last use', async () => {
  const narrow = { matches: true, addEventListener: () => undefined, removeEventListener: () => undefined };
  const media = vi.spyOn(window, 'matchMedia').mockReturnValue(narrow as unknown as MediaQueryList);
  const { client } = await show(<Keys />);
  const used = { ...aKey('kiosk', true), lastActiveAt: new Date(Date.now() - 3 * 3_600_000).toISOString() };
  client.setQueryData(queries.activeKeys().queryKey, { data: [aKey('site', true), used], nextCursor: null });
  client.setQueryData(queries.inactiveKeys({ limit: 50 }).queryKey, { data: [], nextCursor: null } as never);
  await screen.findByRole('table', { name: 'API Tokens' });
  expect(rowsOf('API Tokens')).toEqual([
    expect.stringContaining('never used'),
    expect.stringContaining('used 3 h ago'),
  ]);
  media.mockRestore();
});
