import { readFileSync } from 'node:fs';
import { act, cleanup, screen, waitFor } from '@testing-library/react';
import { useSyncExternalStore } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Store } from '@/vocabulary/store';
import { Connection } from './Connection';

const at = vi.hoisted(() => {
  const listeners = new Set<() => void>();
  const place = {
    id: 'int_0a1b2c3d4e5f6',
    search: {} as Record<string, string>,
    listen: (one: () => void) => {
      listeners.add(one);
      return () => void listeners.delete(one);
    },
    go: ({ search }: { search: Record<string, string> }) => {
      place.search = search;
      for (const one of listeners) one();
    },
  };
  return place;
});
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({
    useParams: () => ({ id: at.id }),
    useSearch: () => useSyncExternalStore(at.listen, () => at.search),
    useNavigate: () => at.go,
  }),
}));
afterEach(cleanup);

const store = (provider: Store['provider']) =>
  ({
    id: at.id,
    provider,
    platform: provider === 'provider_a' ? 'Shopify' : 'WooCommerce',
    webhookUrl: 'https://bridge.example/x',
    secretPreview: 'sEcR…cReT',
    secretSetBy: 'service',
    lastOrderAt: null,
    settings: { requireApiKey: false },
    topicsSeen: [],
    intake: { accepted24h: 0, lastAcceptedAt: null, refused: [] },
  }) as unknown as Store;

test('an old secret that still works is said to, until it ends', async () => {
  const { client } = await show(<Connection />);
  const until = (ms: number) =>
    act(() => {
      const previousSecretExpiresAt = new Date(Date.now() + ms).toISOString();
      client.setQueryData(queries.store(at.id).queryKey, { ...store('provider_b'), previousSecretExpiresAt });
    });
  until(3_600_000);
  await screen.findByText(/^The old secret works until .+\.$/);
  until(-1000);
  await waitFor(() => expect(screen.queryByText(/^The old secret/)).toBeNull());
});

test.each([
  ['provider_a', 'Enter the shop’s own…'],
  ['provider_b', 'Rotate…'],
] as const)('who checks the secret has its control under the focus, each time: %s', async (provider, name) => {
  const scroll = vi.fn();
  Element.prototype.scrollIntoView = scroll;
  const { client } = await show(<Connection />);
  act(() => void client.setQueryData(queries.store(at.id).queryKey, store(provider)));
  const control = await screen.findByRole('button', { name });
  expect(document.activeElement).not.toBe(control);
  for (const times of [1, 2]) {
    act(() => at.go({ search: { do: 'secret' } }));
    await waitFor(() => expect(document.activeElement).toBe(control));
    expect(scroll).toHaveBeenCalledTimes(times);
    expect(control.closest('section')?.dataset.called).toBe('true');
    expect(at.search).toEqual({});
    act(() => control.blur());
    expect(control.closest('section')?.dataset.called).toBeUndefined();
  }
});

test('a store whose shop dictates the secret has one way to enter it', async () => {
  const { client } = await show(<Connection />);
  act(() => void client.setQueryData(queries.store(at.id).queryKey, store('provider_a')));
  await screen.findByRole('button', { name: 'Enter the shop’s own…' });
  screen.getByText('No secret of your shop is saved here yet.');
  await screen.findByRole('link', { name: '“Signing secret”' });
  expect(screen.queryByLabelText('Secret of the shop')).toBeNull();
  // One that has signed orders is the shop's, also where the newest order has another.
  const refused = [{ code: 'INVALID_SIGNATURE', count: 1, lastAt: '2026-11-22T08:15:30.000Z', mendedUntil: null }];
  const signed = {
    ...store('provider_a'),
    topicsSeen: ['orders/paid'],
    intake: { accepted24h: 1, lastAcceptedAt: null, refused },
  } as Store;
  act(() => void client.setQueryData(queries.store(at.id).queryKey, signed));
  await waitFor(() => expect(screen.queryByText('No secret of your shop is saved here yet.')).toBeNull());
});

test.each([
  ['provider_a', [], null],
  ['provider_a', ['orders/paid'], 'Order update, Order cancellation, and Refund create'],
  ['provider_a', ['orders/cancelled', 'orders/paid', 'orders/updated'], 'Refund create'],
  ['provider_a', ['orders/cancelled', 'orders/paid', 'orders/updated', 'refunds/create'], null],
  ['provider_b', ['order.created', 'order.updated'], 'Order deleted and Order restored'],
  ['generic', ['x'], null],
] as const)(
  'the events of the guide that the shop has not sent yet are named: %s, %j',
  async (provider, seen, names) => {
    const { client } = await show(<Connection />);
    const it = { ...store(provider), topicsSeen: [...seen], lastOrderAt: '2026-11-22T08:15:30.000Z' };
    act(() => void client.setQueryData(queries.store(at.id).queryKey, it));
    await screen.findByRole('heading', { name: /^What your shop has sent/ });
    const says = screen.queryByText(/^Not seen yet/)?.textContent ?? null;
    expect(says).toBe(
      names &&
        `Not seen yet: ${names}. That is normal until it happens at your shop. If it has happened, add its webhook by the steps on this page.`,
    );
  },
);

test('code to take elsewhere is whole, in the wide column: it scrolls sideways and wraps nowhere', async () => {
  const styles = readFileSync(`${import.meta.dirname}/steps.module.css`, 'utf8').split('@media')[0];
  document.head.insertAdjacentHTML('beforeend', `<style>${styles}</style>`);
  const { client } = await show(<Connection />);
  act(() => void client.setQueryData(queries.store(at.id).queryKey, store('provider_a')));
  const code = await screen.findByLabelText('The field');
  const columns = document.querySelectorAll('[class*=column] [class*=column]');
  expect(columns[0]?.contains(code)).toBe(true);
  code.parentElement!.className = 'snippet'; // the name in the style sheet
  const { whiteSpace, overflowX, maxHeight } = getComputedStyle(code);
  expect([whiteSpace, overflowX, maxHeight || 'none']).toEqual(['pre', 'auto', 'none']);
  expect(getComputedStyle(code.parentElement!).flexDirection || 'row').toBe('row');
});

test('topics are not said to be of the last 24 hours, in which nothing may have come', async () => {
  const { client } = await show(<Connection />);
  const it = { ...store('provider_b'), topicsSeen: ['order.created', 'order.updated'] } as Store;
  act(() => void client.setQueryData(queries.store(at.id).queryKey, it));
  await screen.findByText('Nothing in the last 24 hours.');
  expect(screen.getByText(/^Topics seen so far:/).textContent).toBe('Topics seen so far: order.created, order.updated');
});
