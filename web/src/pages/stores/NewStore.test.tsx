// The address names the store that was made, so that its guide comes back after a reload.
import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useSyncExternalStore } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { fails, show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Store } from '@/vocabulary/store';
import '@/components/SecretOnce'; // loaded before it is shown
import { NewStore } from './NewStore';

const at = vi.hoisted(() => {
  const listeners = new Set<() => void>();
  const place = {
    search: {} as Record<string, string>,
    replaced: [] as unknown[],
    listen: (one: () => void) => {
      listeners.add(one);
      return () => void listeners.delete(one);
    },
    go: ({ search, replace }: { search: Record<string, string>; replace?: boolean }) => {
      place.search = search;
      place.replaced.push(replace);
      for (const one of listeners) one();
    },
  };
  return place;
});
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({
    useSearch: () => useSyncExternalStore(at.listen, () => at.search),
    useNavigate: () => at.go,
  }),
}));

const id = 'int_0a1b2c3d4e5f6';
const secret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAA9wND';
const aStore = (more: Partial<Store> = {}) =>
  ({
    id,
    name: 'marlowtones.com',
    provider: 'generic',
    platform: null,
    archivedAt: null,
    webhookUrl: 'https://bridge.example/api/webhooks/x',
    secretPreview: '…9wND',
    secretSetBy: 'service',
    lastOrderAt: null,
    topicsSeen: [],
    settings: { requireApiKey: false },
    intake: { accepted24h: 0, lastAcceptedAt: null, refused: [] },
    ...more,
  }) as Store;

beforeEach(() => {
  at.search = {};
  at.replaced = [];
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('the address names the store that was made, and a reload shows its guide again', async () => {
  serve(() => Response.json({ ...aStore(), secret }, { status: 201 }));
  const user = userEvent.setup();
  const { client } = await show(<NewStore />);
  await user.type(await screen.findByLabelText('What do you call it?'), 'marlowtones.com');
  await user.click(screen.getByRole('button', { name: 'Create store' }));
  await screen.findAllByText(secret); // in each step that needs it
  expect(document.activeElement?.textContent).toContain('Listening for your first order');
  expect(at.search).toEqual({ store: id });
  expect(at.replaced).toEqual([true]);
  expect(
    JSON.stringify(
      client
        .getQueryCache()
        .getAll()
        .map(({ state }) => state.data),
    ),
  ).not.toContain(secret);
  act(() => at.go({ search: {} }));
  await screen.findByRole('button', { name: 'Create store' });
  act(() => at.go({ search: { store: id } }));
  await screen.findByText(/^The secret is shown only once/);
  expect(document.body.textContent).not.toContain(secret);
  cleanup();

  const again = await show(<NewStore />);
  act(() => void again.client.setQueryData(queries.store(id).queryKey, aStore()));
  await screen.findByRole('heading', { name: 'Connect marlowtones.com' });
  await screen.findByText(/^The secret is shown only once/);
  await screen.findByRole('button', { name: 'Rotate…' });
  screen.getByText('Listening for your first order');
  expect(document.activeElement).toBe(screen.getByRole('heading', { level: 1 })); // the page does not move to the steps
  expect(screen.queryByRole('button', { name: 'Create store' })).toBeNull();
  expect(document.body.textContent).not.toContain(secret);

  // "Connect a store" in the navigation or the palette asks for another one.
  act(() => at.go({ search: {} }));
  await screen.findByRole('button', { name: 'Create store' });
});

test('an address of a store that is not there says so', async () => {
  at.search = { store: id };
  const { client } = await show(<NewStore />);
  fails(client, queries.store(id).queryKey, new ApiError(404, 'NOT_FOUND', 'x'));
  await screen.findByText('Store not found, or it belongs to another account.');
});

test('the first order is said to carry a username, or to lack it', async () => {
  at.search = { store: id };
  const { client } = await show(<NewStore />);
  const store = (more: Partial<Store>) =>
    act(() => void client.setQueryData(queries.store(id).queryKey, aStore({ provider: 'provider_a', ...more })));
  const orders = (targetUsername: string | null) =>
    act(() => {
      const data = [{ orderId: '1', orderNumber: '#501', targetUsername, test: false }];
      client.setQueryData(queries.orders({ integrationId: id, limit: 100 }).queryKey, { data } as never);
    });
  store({});
  await screen.findByText('The first order shows whether it carries a username.');
  store({ lastOrderAt: '2026-11-22T10:00:00.000Z' });
  orders(null);
  await screen.findByText('An order arrived, its signature is right');
  const says = () => document.body.textContent.replace(/[\u2066-\u2069]/g, '');
  expect(says()).toContain('Order #501 had no cloud username. Add the field to your shop.');
  orders('mira');
  await waitFor(() => expect(says()).toContain('Order #501 carried the username @mira'));
});
