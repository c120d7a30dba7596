import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries, type DeliveryQuery } from '@/api/queries';
import { aDelivery } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Store } from '@/vocabulary/store';
import { FirstStep } from './FirstStep';
import './Gift'; // loaded before it is opened
import { useGuideStore } from './lines';

const aStore = (id: string, provider: Store['provider'], more: Partial<Store> = {}) =>
  ({
    id,
    name: id,
    provider,
    active: true,
    archivedAt: null,
    mappingCount: 0,
    lastOrderAt: null,
    createdAt: '2026-11-20T10:00:00.000Z',
    ...more,
  }) as Store;
const shop = aStore('int_shop', 'provider_a');
const own = aStore('int_own', 'generic');
const preset = { id: 'file-7', name: 'Tweed <b>59</b>', kind: 'preset' };
const made = aDelivery({ id: 'del_gift', orderNumber: null, orderId: 'gift-1', targetUsername: 'mira' });

let stores: Store[];
let packs: { id: string }[];
let orders: unknown[];
let order: unknown; // the one that is read
let answer: () => Response;
let completed: unknown[];
let read: string[];
let sent: { path: string; body: Record<string, unknown> }[];
beforeEach(() => {
  stores = [shop, own];
  packs = [];
  orders = [];
  order = undefined;
  sent = [];
  completed = [];
  read = [];
  answer = () => Response.json(made, { status: 201 });
  serve(async (request) => {
    const path = new URL(request.url).pathname;
    read.push(request.url);
    const lists: Record<string, unknown[]> = {
      '/api/integrations': stores,
      '/api/credits/packs': packs,
      '/api/orders': orders,
      '/api/deliveries': completed,
    };
    if (request.method === 'GET' && path.startsWith('/api/orders/')) return Response.json(order ?? { lines: [] });
    if (request.method === 'GET') return Response.json({ data: lists[path] ?? [], nextCursor: null });
    sent.push({ path, body: await request.json() });
    return path === '/api/integrations' ? Response.json(aStore('int_gifts', 'generic'), { status: 201 }) : answer();
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open({ ready = true, done = false, credits = 3, role = 'owner' as 'owner' | 'member' } = {}) {
  const step = <FirstStep store={shop} ready={ready} done={done} onLeave={() => undefined} onMatch={() => undefined} />;
  const { client } = await show(step, { role });
  act(() => {
    client.setQueryData(queries.stores().queryKey, { data: stores, nextCursor: null } as never);
    client.setQueryData(queries.presets('').queryKey, { data: [preset], nextCursor: null } as never);
    client.setQueryData(queries.credits().queryKey, { available: credits, lowThreshold: 0 } as never);
    client.setQueryData(queries.cloud().queryKey, { cloudUsername: 'marlow_tones' } as never);
    client.setQueryData(queries.delivery('del_gift').queryKey, made);
  });
}
const plain = () => document.body.textContent?.replace(/[\u2066-\u2069]/g, '');
const button = () => screen.queryByRole('button', { name: 'Deliver a preset to a friend' });
async function fill() {
  fireEvent.click(button()!);
  const dialog = await screen.findByRole('dialog');
  const deliver = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Deliver' });
  const name = within(dialog).getByLabelText(/^Username of your friend/);
  fireEvent.click(within(dialog).getByLabelText('Preset', { selector: 'input' }));
  fireEvent.click(await screen.findByText('Tweed <b>59</b>'));
  fireEvent.change(name, { target: { value: ' @mira' } });
  return { dialog, deliver, name };
}

test('a preset is delivered to a friend once, and followed in the step', async () => {
  await open();
  const { dialog, deliver, name } = await fill();
  fireEvent.change(name, { target: { value: ' @' } });
  expect(deliver.disabled).toBe(true);
  fireEvent.change(name, { target: { value: 'mira@posteo.net' } });
  expect(deliver.disabled).toBe(true);
  expect(dialog.textContent).toContain('That looks like an e-mail address. Type the username of the profile.');
  fireEvent.change(name, { target: { value: ' @mira' } });
  expect(dialog.textContent).toContain('Your friend gets a friend request from @marlow_tones');
  expect(dialog.textContent).toContain('It costs 1 credit. You have 3.');
  expect(dialog.textContent).not.toContain('is added for it');
  fireEvent.submit(deliver.closest('form')!);
  fireEvent.submit(deliver.closest('form')!);
  expect((await screen.findByText('gift-1')).parentElement?.textContent).toContain('@mira');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(sent).toEqual([
    {
      path: '/api/deliveries',
      body: {
        integrationId: 'int_own',
        orderId: expect.stringMatching(/^gift-[0-9a-f]{8}$/),
        targetUsername: '@mira',
        items: [{ fileId: 'file-7', title: 'Tweed <b>59</b>' }],
      },
    },
  ]);
  expect(screen.getByRole('link', { name: 'See what happened' }).getAttribute('href')).toBe('/deliveries/del_gift');
});

test('a store is made where none takes it, and one alone after an answer that was lost', async () => {
  stores = [shop, aStore('int_off', 'generic', { active: false })];
  await open({ credits: 0 });
  answer = () => Response.json({ error: { code: 'OVERLOADED', message: 'x' } }, { status: 503 });
  const { dialog, deliver, name } = await fill();
  expect(dialog.textContent).toContain('It costs 1 credit, and you have none.');
  expect(dialog.textContent).toContain('a store “Gifts” is added for it');
  fireEvent.click(deliver);
  await within(dialog).findByRole('alert');
  for (const value of [' @mira', ' @mira']) fireEvent.change(name, { target: { value } }); // edited, and back
  stores = [...stores, aStore('int_gifts', 'generic')];
  answer = () => Response.json(made, { status: 200 });
  fireEvent.click(deliver);
  await screen.findByText('gift-1');
  expect(sent.map(({ path }) => path)).toEqual(['/api/integrations', '/api/deliveries', '/api/deliveries']);
  expect(sent[0]?.body).toEqual({ name: 'Gifts', provider: 'generic' });
  expect(sent[1]).toEqual(sent[2]); // the same order, so the service makes one delivery of it
  expect(sent[1]?.body.integrationId).toBe('int_gifts');
});

test('an order that delivers nothing says why', async () => {
  await open();
  answer = () =>
    Response.json({ status: 'ignored', reason: 'inactive', orderId: 'gift-1', eventId: 'x' }, { status: 202 });
  const { deliver } = await fill();
  fireEvent.click(deliver);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  screen.getByText('Waiting for your first real order');
  expect(screen.queryByText('gift-1')).toBeNull();
});

test('it is offered once the shop has sent an order, and until something was delivered', async () => {
  await open({ ready: false });
  await screen.findByText('Waiting for your first real order');
  expect(button()).toBeNull();
  cleanup();
  await open({ done: true });
  await screen.findByText('That’s it. The bridge now works by itself.');
  expect(button()).toBeNull();
});

test('the guide stays with the shop after a gift', async () => {
  const heard = (id: string, provider: Store['provider'], more: Partial<Store> = {}) =>
    aStore(id, provider, { lastOrderAt: '2026-11-22T10:00:00.000Z', ...more });
  const gifts = heard('int_gifts', 'generic', { createdAt: '2026-11-22T10:00:00.000Z' });
  const site = heard('int_site', 'generic', { mappingCount: 2 });
  const Named = ({ chosen }: { chosen?: string }) => useGuideStore(chosen)?.id ?? null;
  for (const [rows, chosen, id] of [
    [[heard('int_shop', 'provider_b'), gifts], undefined, 'int_shop'],
    [[site, gifts], undefined, 'int_site'],
    [[site, gifts], 'int_gifts', 'int_gifts'],
    [[own, gifts], undefined, 'int_gifts'],
    [[shop, own], undefined, 'int_own'],
  ] as const) {
    const { client } = await show(<Named {...(chosen ? { chosen } : {})} />);
    act(() => void client.setQueryData(queries.stores().queryKey, { data: [...rows], nextCursor: null } as never));
    await screen.findByText(id);
    cleanup();
  }
});

test('who has no credits reads so before an order waits for them, and can buy some', async () => {
  packs = [{ id: 'small' }];
  await open({ credits: 0 });
  await screen.findByText('You have no credits yet');
  screen.getByText(/^A real delivery costs 1 credit a preset\. Your first order waits/);
  expect((await screen.findByRole('link', { name: 'Buy credits' })).getAttribute('href')).toBe('/credits');
  cleanup();
  for (const some of [{ credits: 1 }, { credits: 0, done: true }]) {
    await open(some);
    await screen.findByText(/^A real delivery costs 1 credit a preset\. You have \d\.$/);
    expect(screen.queryByText('You have no credits yet')).toBeNull();
    cleanup();
  }
});

test.each([true, false])(
  'products without presets of the order are said, with the way to match them: %s',
  async (follows) => {
    const matched = { result: 'delivers', matchedBy: 'sku' };
    const bare = { result: 'unmapped', matchedBy: null };
    const row = { id: 'ord_1', orderId: '1', orderNumber: '#1001', targetUsername: 'mira', test: false };
    orders = [row];
    const since = { result: 'unmapped', matchedBy: 'sku' };
    const match = vi.fn();
    const heard = { ...shop, lastOrderAt: '2026-11-22T10:00:00.000Z' };
    const { client } = await show(
      <FirstStep store={heard} ready done={false} onLeave={() => undefined} onMatch={match} />,
    );
    const has = (...lines: unknown[]) =>
      act(() => {
        if (follows) {
          const newest = aDelivery({ id: 'del_1', orderNumber: '#1001' });
          client.setQueryData(queries.deliveries({ dryRun: false, limit: 1 }).queryKey, { data: [newest] } as never);
        }
        client.setQueryData(queries.orders({ integrationId: shop.id, limit: 100 }).queryKey, {
          data: orders,
        } as never);
        order = { ...row, lines };
        client.setQueryData(queries.order('ord_1').queryKey, order as never);
      });
    has(matched, bare);
    const says = '1 product of #1001 has no preset yet, so it is not delivered.';
    await waitFor(() => expect(plain()).toContain(says));
    fireEvent.click(screen.getByRole('button', { name: 'Match it' }));
    expect(match).toHaveBeenCalledOnce();
    has(matched, since);
    await waitFor(() => expect(plain()).not.toContain('no preset yet'));
  },
);

test('an order that was skipped before its product had presets is delivered from here, once', async () => {
  const store = { ...shop, lastOrderAt: '2026-11-22T10:00:00.000Z' };
  answer = () => Response.json({ id: 'job_1' }, { status: 202 });
  const { client } = await show(
    <FirstStep store={store} ready done={false} onLeave={() => undefined} onMatch={() => undefined} />,
  );
  const count = (reprocessableOrders: number) =>
    act(() => {
      client.setQueryData(['stores', 'reprocessable', 'int_shop', 'saved'], {
        reprocessableOrders,
        reprocessableOrdersExact: true,
        reprocessableCredits: 2,
      });
    });
  const came = (test: boolean) => {
    orders = [{ orderId: '1', orderNumber: '#1', targetUsername: null, test }];
    const key = queries.orders({ integrationId: store.id, limit: 100 }).queryKey;
    act(() => void client.setQueryData(key, { data: orders } as never));
  };
  count(0);
  await screen.findByText('Waiting for your first real order');
  expect(screen.queryByText(/skipped/)).toBeNull();
  // A test order of the shop is not the first real one, so it is not offered as that.
  count(1);
  came(true);
  await screen.findByText('Waiting for your first real order');
  expect(screen.queryByText(/skipped/)).toBeNull();
  came(false);
  await screen.findByText('1 order was skipped: its product has presets now.');
  expect(screen.queryByText('Waiting for your first real order')).toBeNull(); // it has come
  act(() => void client.setQueryData(queries.credits().queryKey, { available: 3, lowThreshold: 0 } as never));
  await screen.findByText('Delivering costs 2 credits at most. You have 3.');
  fireEvent.click(screen.getByRole('button', { name: 'Deliver it' }));
  await screen.findByText('1 order is on its way.');
  expect(screen.queryByText(/skipped|Waiting for your first/)).toBeNull();
  expect(sent.filter(({ path }) => path.includes('reprocess'))).toEqual([
    { path: '/api/orders/reprocess', body: { integrationId: 'int_shop', unmapped: true } },
  ]);
  // Some are delivered, and the job goes on.
  count(3);
  expect(screen.queryByText(/skipped/)).toBeNull();
  // The job ended, and left an order.
  act(() => void client.setQueryData(['bulk', 'job_1'], { id: 'job_1', finishedAt: '2026-11-22T10:00:09.000Z' }));
  await screen.findByText('3 orders were skipped: their products have presets now.');
  screen.getByRole('button', { name: 'Deliver them' });
});

test('a step that is done shows the delivery that completed it, not a newer one', async () => {
  const rows = [
    aDelivery({ id: 'del_failed', orderNumber: '#3', status: 'failed', resolutionCode: 'internal_error' }),
    aDelivery({ id: 'del_2', orderNumber: '#2', status: 'completed', completedAt: '2026-11-22T13:30:00.000Z' }),
    aDelivery({ id: 'del_1', orderNumber: '#1', status: 'completed', completedAt: '2026-11-22T13:40:00.000Z' }),
  ];
  completed = rows.slice(1).reverse();
  const follow = async (done: boolean) => {
    const { client } = await show(
      <FirstStep store={shop} ready done={done} onLeave={() => undefined} onMatch={() => undefined} />,
    );
    act(() => {
      const list = (query: DeliveryQuery, data: typeof rows) =>
        client.setQueryData(queries.deliveries(query).queryKey, { data, nextCursor: null } as never);
      list({ dryRun: false, limit: 1 }, rows.slice(0, 1));
      for (const row of rows) client.setQueryData(queries.delivery(row.id).queryKey, row);
    });
  };
  await follow(false);
  await screen.findByText('#3');
  cleanup();
  await follow(true);
  await screen.findByText('#2');
  expect(screen.queryByText('#3')).toBeNull();
});

test('completed deliveries are read for a step that is done alone', async () => {
  const isRead = () => read.some((url) => url.includes('status=completed'));
  await open({ done: false });
  await screen.findByText('Waiting for your first real order');
  expect(isRead()).toBe(false);
  cleanup();
  await open({ done: true });
  await waitFor(() => expect(isRead()).toBe(true));
});

test('a member without credits reads who can buy some', async () => {
  packs = [{ id: 'small' }];
  await open({ credits: 0, role: 'member' });
  await screen.findByText('Only an owner can buy credits.');
  screen.getByText('Ask an owner of this account.');
  expect(screen.queryByRole('link', { name: 'Buy credits' })).toBeNull();
});

test.each([
  ['mira', false],
  [null, true],
])('the field for the username is worth doing where an order of a buyer had none: %s', async (username, worth) => {
  orders = [
    { orderId: '9999', orderNumber: '#9999', targetUsername: null, test: true },
    { orderId: '1', orderNumber: '#1', targetUsername: username, test: false },
  ];
  const heard = { ...shop, lastOrderAt: '2026-11-22T10:00:00.000Z' };
  const { client } = await show(
    <FirstStep store={heard} ready done onLeave={() => undefined} onMatch={() => undefined} />,
  );
  const key = queries.orders({ integrationId: shop.id, limit: 100 }).queryKey;
  await waitFor(() => expect(client.getQueryData(key)?.data).toHaveLength(2));
  await waitFor(() => expect(screen.queryByText('Ask buyers for their username') !== null).toBe(worth));
});
