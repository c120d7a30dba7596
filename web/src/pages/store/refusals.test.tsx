import { useQuery, type QueryClient } from '@tanstack/react-query';
import { act, cleanup, screen, waitForElementToBeRemoved } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Store } from '@/vocabulary/store';
import { Listening } from './Listening';
import { Refused } from './Refused';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const FIRST_CHECK = 'Is the whole address copied, from https to its end?';
const intake = (code: string, count: number, lastAt: string, mendedUntil: string | null = null) => ({
  accepted24h: 0,
  lastAcceptedAt: null,
  refused: [{ code, count, lastAt, mendedUntil }],
});
const refused = (code: string, provider: Store['provider'] = 'provider_a') =>
  ({
    id: 'int_0a1b2c3d4e5f6',
    provider,
    platform: 'Shopify',
    secretSetBy: 'merchant',
    secretChangedAt: null,
    topicsSeen: [],
    lastOrderAt: null,
    settings: { requireApiKey: true },
    intake: intake(code, 2, '2026-11-22T08:15:30.000Z'),
  }) as unknown as Store;

// A store that has got no request yet.
const silent = (provider: Store['provider'] = 'provider_a') =>
  ({ ...refused('x', provider), intake: { accepted24h: 0, lastAcceptedAt: null, refused: [] } }) as unknown as Store;
// Shows the store as if the service had just answered with it.
const answer = (client: QueryClient, it: Store) =>
  act(() => void client.setQueryData(queries.store(it.id).queryKey, it));

test.each([
  ['INVALID_SIGNATURE', 'Check the secret', 'Copy the secret again, then send another.', []],
  ['UNAUTHORIZED', 'Check the store', 'It came with no valid token. Check the store, then send another.', []],
  [
    'INVALID_PAYLOAD',
    'Check the store',
    'It came with a body that is not an order. Check the store, then send another.',
    ['Is the event the payment of an order?', 'Is the format JSON?'],
  ],
])('the advice for orders with %s', async (code, link, text, checks) => {
  const it = refused(code);
  const { client } = await show(
    <>
      <Refused it={it} />
      <Listening id={it.id} />
    </>,
  );
  client.setQueryData(queries.store(it.id).queryKey, it);
  await screen.findByRole('link', { name: link });
  await screen.findByText(text);
  // Requests arrive, so there is no help for a store that gets none.
  expect(screen.queryByText('Nothing arrives?')).toBeNull();
  expect(screen.queryAllByRole('listitem').map((one) => one.textContent)).toEqual(checks);
});

test('the banner leads to another page than the one on which it stands', async () => {
  const at = async (tab: string, code: string) => {
    cleanup();
    await show(<Refused it={refused(code)} />, { at: `/integrations/stores/int_0a1b2c3d4e5f6/${tab}` });
    await screen.findByText('Your shop’s orders are refused');
    const link = screen.queryByRole('link');
    return link && [link.textContent, link.getAttribute('href')?.split('int_0a1b2c3d4e5f6')[1]];
  };
  expect(await at('products', 'UNAUTHORIZED')).toEqual(['Check the store', '/connection']);
  expect(await at('connection', 'UNAUTHORIZED')).toEqual(['Open the settings', '/settings']);
  expect(await at('connection', 'FORBIDDEN')).toEqual(['Open API Tokens', undefined]);
  expect(screen.getByRole('link').getAttribute('href')).toBe('/keys');
  expect(await at('connection', 'INVALID_PAYLOAD')).toBeNull();
  expect(await at('connection', 'INVALID_SIGNATURE')).toEqual(['Check the secret', '/connection?do=secret']);
});

test('refusals of orders without a token say so where a token is no longer required', async () => {
  const it = refused('UNAUTHORIZED');
  const says = 'Orders without a token are accepted now. A token that is not valid is still refused.';
  const shows = async (now: Store) => {
    cleanup();
    await show(<Refused it={now} />);
  };
  await shows(it);
  await screen.findByText(/^2 with no valid token/);
  expect(document.body.textContent).not.toContain(says);
  await shows({ ...it, settings: { ...it.settings, requireApiKey: false } });
  expect((await screen.findByText(/^2 with no valid token/)).textContent).toContain(says);
});

test('after three minutes without an order the list of what to check opens by itself, and a person can close it', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const it = silent();
  const { client } = await show(<Listening id={it.id} />);
  answer(client, it);
  await screen.findByText('This page moves on by itself as soon as it arrives.');
  act(() => void vi.advanceTimersByTime(170_000));
  expect(screen.queryByText(FIRST_CHECK)).toBeNull();
  act(() => void vi.advanceTimersByTime(20_000));
  screen.getByText(FIRST_CHECK);
  screen.getByText(/^Nothing has arrived for three minutes\./);
  await userEvent.setup({ advanceTimers: vi.advanceTimersByTime }).click(screen.getByText('Nothing arrives?'));
  expect(screen.queryByText(FIRST_CHECK)).toBeNull();
  act(() => void vi.advanceTimersByTime(20_000));
  expect(screen.queryByText(FIRST_CHECK)).toBeNull();
});

test.each([
  ['provider_a', 1],
  ['provider_b', 0],
] as const)('the list asks for the secret of a shop that dictates it: %s', async (provider, times) => {
  const it = silent(provider);
  const { client } = await show(<Listening id={it.id} />);
  answer(client, it);
  await userEvent.setup().click(await screen.findByText('Nothing arrives?'));
  screen.getByText(FIRST_CHECK);
  expect(screen.queryAllByText(/^Is the secret of the shop saved here/)).toHaveLength(times);
});

test('a program of one’s own is asked other things than a shop', async () => {
  const lines = () => screen.queryAllByRole('listitem').map((one) => one.textContent);
  const it = silent('generic');
  const { client } = await show(<Listening id={it.id} />);
  answer(client, it);
  await userEvent.setup().click(await screen.findByText('Nothing arrives?'));
  expect(lines()).toEqual([
    'Does your program send to the whole address, with POST?',
    'Can its server reach this address?',
    'Does it send an order once it is paid?',
    'Does it get the answer 202? Any other says in “error” why the order is not stored.',
  ]);
  answer(client, refused('INVALID_PAYLOAD', 'generic'));
  await vi.waitFor(() =>
    expect(lines()).toEqual([
      'Is the body JSON, with orderId, a username and items?',
      'The answer names each faulty field in “details”.',
    ]),
  );
});

test('a secret that is newer than the last refusal ends the warning, until the next refusal', async () => {
  const it = refused('INVALID_SIGNATURE');
  const { client } = await show(<Listening id={it.id} />);
  const now = (change: Partial<Store>) => answer(client, { ...it, ...change });
  now({});
  await screen.findByText('An order came, but its signature is wrong');
  screen.getByText(/^2 refused, last .*15:30/);
  const changed = (secretChangedAt: string, lastAt = '2026-11-22T08:15:30.000Z', count = 2) =>
    now({ secretChangedAt, intake: intake('INVALID_SIGNATURE', count, lastAt, secretChangedAt) });
  changed('2026-11-22T08:15:29.000Z');
  screen.getByText('An order came, but its signature is wrong');
  const mended = '2026-11-22T08:15:31.000Z';
  changed(mended);
  await screen.findByText('Listening for your first order');
  screen.getByText('New secret saved. Send another order.');
  screen.getByText(/^2 refused, last .*15:30/);
  expect(screen.queryByText(FIRST_CHECK)).toBeNull();
  changed(mended, '2026-11-22T08:16:00.000Z', 3);
  await screen.findByText('An order came, but its signature is wrong');
  screen.getByText(/^3 refused, last .*16:00/);
});

test('where no secret of the shop is saved, a wrong signature says so', async () => {
  const it = { ...refused('INVALID_SIGNATURE'), secretSetBy: 'service' } as Store;
  const { client } = await show(<Listening id={it.id} />);
  answer(client, it);
  await screen.findByText('No secret of your shop is saved here yet. Save it above, then send another order.');
  // The service made a new secret, which is not the shop's either.
  const secretChangedAt = '2026-11-22T09:15:00.000Z';
  const more = intake('INVALID_SIGNATURE', 4, '2026-11-22T08:15:30.000Z', secretChangedAt);
  answer(client, { ...it, secretChangedAt, intake: more } as Store);
  await screen.findByText(/^4 refused/);
  screen.getByText('No secret of your shop is saved here yet. Save it above, then send another order.');
});

test('the banner goes with the change of the secret, and comes back without a count with the next refusal', async () => {
  const it = refused('INVALID_SIGNATURE');
  const Banner = () => {
    const { data } = useQuery(queries.store(it.id));
    return data ? <Refused it={data} /> : null;
  };
  const { client } = await show(<Banner />);
  const now = (change: Partial<Store>) => answer(client, { ...it, ...change });
  now({});
  await screen.findByText(/^2 with a wrong signature in the last 24 hours/);
  const secretChangedAt = '2026-11-22T08:15:31.000Z';
  now({ secretChangedAt, intake: intake('INVALID_SIGNATURE', 2, '2026-11-22T08:15:30.000Z', secretChangedAt) });
  await waitForElementToBeRemoved(screen.queryByText(/with a wrong signature/));
  now({ secretChangedAt, intake: intake('INVALID_SIGNATURE', 3, '2026-11-22T08:16:00.000Z', secretChangedAt) });
  await screen.findByText(/^The last came .*, with a wrong signature\. Shopify sends refused orders again/);
});
