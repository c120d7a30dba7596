// A question stays when the delivery changes under it.
import type { QueryClient } from '@tanstack/react-query';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { aDelivery, failedFor, itemsOf } from '@/testing/delivery';
import { clearToasts, Toasts } from '@/components/toasts';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { LazyActions } from './LazyActions';
import { DeliveryFacts } from './DeliveryFacts';
import type { Delivery } from './types';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  act(clearToasts);
  vi.unstubAllGlobals();
});

// The delivery as the page has it, and what comes from elsewhere.
async function page(first: Delivery) {
  let change: (it: Delivery) => void = () => undefined;
  const Page = () => {
    const [it, set] = useState(first);
    change = set;
    return (
      <Questions it={it}>
        <DeliveryPanel it={it} />
      </Questions>
    );
  };
  const { client } = await show(<Page />);
  return { client, user: userEvent.setup(), changes: (it: Delivery) => change(it) };
}
const button = (name: string | RegExp) => screen.findByRole('button', { name }) as Promise<HTMLButtonElement>;

test('what was typed stays, and what happened is said', async () => {
  const held = aDelivery({ status: 'in_review', reviewReason: 'held', allowedActions: ['approve', 'invalidate'] });
  const { user, changes } = await page(held);
  await user.click(await button('Stop delivery…'));
  await user.type(await screen.findByLabelText('Reason'), 'Not ours');
  expect(screen.queryByRole('alert')).toBeNull();

  changes({ ...held, status: 'queued', reviewReason: null, allowedActions: ['invalidate'] });
  expect((await screen.findByRole('alert')).textContent).toBe('This delivery changed meanwhile. It is now “Queued”.');
  expect((screen.getByLabelText('Reason') as HTMLTextAreaElement).value).toBe('Not ours');
  expect((await button('Stop delivery')).disabled).toBe(false);

  changes({ ...held, status: 'completed', reviewReason: null, allowedActions: ['revoke'] });
  expect((await button('Can no longer be stopped')).disabled).toBe(true);
  expect(screen.getByRole('alert').textContent).toBe('This delivery changed meanwhile. It is now “Completed”.');
  expect((screen.getByLabelText('Reason') as HTMLTextAreaElement).value).toBe('Not ours');
});

test('so does the question whether another buyer gets it', async () => {
  const failed = failedFor(
    'username_not_found',
    itemsOf({ status: 'shared', credits: 1 }, {}, { status: 'delivered_by_hand' }),
  );
  const { user, changes } = await page(failed);
  const field = await screen.findByLabelText('Username on the cloud platform');
  await user.clear(field);
  await user.type(field, 'kim');
  await user.click(await button(/^Save/));
  await button('Send to @kim');
  await screen.findByText('@jonasek_ keeps 1 preset. @kim needs 2 presets: 2 credits.');
  changes(aDelivery({ ...failed, dryRun: true }));
  await screen.findByText('@jonasek_ keeps 1 preset. @kim needs 2 presets. It is a test: no credit is spent.');
  changes(aDelivery({ status: 'invalidated', reason: 'x', allowedActions: ['reopen'] }));
  expect((await button('Can no longer be sent')).disabled).toBe(true);
  expect(screen.getByRole('alert').textContent).toBe('This delivery changed meanwhile. It is now “Stopped”.');
});

test('a buyer of before needs only what they have not got', async () => {
  const failed = failedFor(
    'username_not_found',
    itemsOf(
      { fileId: 'a' },
      { fileId: 'b' },
      { fileId: 'c', status: 'shared', credits: 1 },
      { fileId: 'a', status: 'shared', former: true, username: 'kim' },
    ),
  );
  const { user } = await page(failed);
  const field = await screen.findByLabelText('Username on the cloud platform');
  await user.clear(field);
  await user.type(field, 'kim');
  await user.click(await button(/^Save/));
  await screen.findByText(/@kim needs 2 presets: 2 credits\./);
});

test('presets are taken back from the user who has them, and from nobody else', async () => {
  const sent: unknown[] = [];
  const [some] = aDelivery().items;
  const item = (id: string, username: string, status: Delivery['items'][number]['status']) =>
    ({ ...some, id, username, status, former: username !== 'jonasek' }) as Delivery['items'][number];
  const now = (mine: Delivery['items']) =>
    aDelivery({
      targetUsername: 'jonasek',
      allowedActions: ['revoke'],
      items: [item('itm_1', 'jonasek_', 'shared'), item('itm_2', 'jonasek_', 'revoke_failed'), item('itm_3', 'jonasek_', 'revoked'), item('itm_4', 'jo', 'revoked'), ...mine],
    }); // prettier-ignore
  const Page = ({ it }: { it: Delivery }) => (
    <Questions it={it}>
      <LazyActions it={it} />
      <DeliveryFacts it={it} />
    </Questions>
  );
  serve(async (request) => {
    if (request.method === 'POST') sent.push([request.url.split('/').at(-1), await request.json()]);
    return Response.json(now([]));
  });
  const user = userEvent.setup();

  await show(<Page it={now([item('itm_5', 'jonasek', 'owed')])} />);
  await user.click(await button('More'));
  await screen.findByRole('menuitem', { name: 'Copy delivery id' });
  const headings = screen.getAllByRole('heading', { level: 3, hidden: true });
  expect(headings.map(({ textContent }) => textContent)).toEqual([
    'For @jonasek',
    'Given to @jonasek_ before',
    'Given to @jo before',
  ]);
  expect(screen.queryByRole('menuitem', { name: 'Take presets back…' })).toBeNull();
  await user.keyboard('{Escape}');
  await user.click(await button('Take back…'));
  await screen.findByText(/^Take \d presets back from @jonasek_\?$/);
  await user.click(await button('Take back'));
  await vi.waitFor(() => expect(sent).toEqual([['revoke', { itemIds: ['itm_1', 'itm_2'] }]]));
  cleanup();

  await show(<Page it={now([item('itm_5', 'jonasek', 'revoke_failed'), item('itm_6', 'jonasek', 'owed')])} />);
  await user.click(await button('More'));
  await user.click(await screen.findByRole('menuitem', { name: 'Take presets back…' }));
  await screen.findByText('Take Lead back from @jonasek?');
  await user.click(await button('Take back'));
  await vi.waitFor(() => expect(sent.at(-1)).toEqual(['revoke', { itemIds: ['itm_5'] }]));
});

const receiver = (more: Partial<Schemas['Subscription']>) =>
  ({ active: true, eventTypes: [], integrationIds: [], ...more }) as Schemas['Subscription'];
const receivers = (client: QueryClient, ...data: Schemas['Subscription'][]) =>
  act(() => client.setQueryData(queries.subscriptions().queryKey, { data, nextCursor: null }));

test.each([
  ['completed', /^The buyer keeps what was shared/, 'Your shop is told that it is stopped, with this reason:'],
  ['failed', /^Nothing more of order #4124 is shared\./, 'Your shop is told not to complete it, with this reason:'],
] as const)('stopping says what the buyer keeps, and only the truth about the shop: %s', async (status, says, told) => {
  const it = aDelivery({ status, allowedActions: ['invalidate'], ...itemsOf({ status: 'shared' }) });
  const user = userEvent.setup();
  const { client } = await show(
    <Questions it={it}>
      <LazyActions it={it} />
    </Questions>,
  );
  await user.click(await button('More'));
  await user.click(await screen.findByRole('menuitem', { name: 'Stop delivery…' }));
  const text = (await screen.findByText(says)).textContent;
  expect(text).toContain('The delivery keeps this reason:');
  expect(text).not.toContain('shop');

  receivers(
    client,
    receiver({ active: false }),
    receiver({ eventTypes: ['delivery.completed'] }),
    receiver({ integrationIds: ['int_other00000000'] }),
  );
  expect((await screen.findByText(says)).textContent).not.toContain('shop');
  receivers(client, receiver({ eventTypes: ['delivery.invalidated'], integrationIds: [it.integrationId] }));
  await vi.waitFor(() => expect(screen.getByText(says).textContent).toContain(told));
});

test('of several presets one can be taken back alone', async () => {
  const sent: unknown[] = [];
  const with_ = (...items: Partial<Delivery['items'][number]>[]) =>
    aDelivery({ status: 'completed', allowedActions: ['revoke'], ...itemsOf(...items) });
  const several = with_(
    { id: 'itm_1', name: 'Lead', status: 'shared' },
    { id: 'itm_2', name: 'Clean', status: 'shared' },
    { name: 'Crunch', status: 'revoked' },
  );
  serve(async (request) => {
    if (request.method === 'POST') sent.push(await request.json());
    return Response.json(several);
  });
  const user = userEvent.setup();
  const Page = ({ it }: { it: Delivery }) => (
    <Questions it={it}>
      <DeliveryFacts it={it} />
    </Questions>
  );
  await show(<Page it={several} />);
  expect(screen.queryByRole('button', { name: 'Take Crunch back…' })).toBeNull();
  await user.click(await button('Take Clean back…'));
  await screen.findByText('Take Clean back from @jonasek_?');
  await user.click(await button('Take back'));
  await vi.waitFor(() => expect(sent).toEqual([{ itemIds: ['itm_2'] }]));
  cleanup();

  // The last of several that were shared is taken back in the same way.
  await show(<Page it={with_({ name: 'Lead', status: 'shared' }, { name: 'Clean', status: 'revoked' })} />);
  expect((await screen.findAllByRole('button', { name: /back…$/ })).map(({ title }) => title)).toEqual([
    'Take Lead back…',
  ]);
  cleanup();

  await show(<Page it={with_({ name: 'Lead', status: 'shared' }, { name: 'Clean', status: 'owed' })} />);
  await screen.findByText('Lead');
  expect(screen.queryByRole('button', { name: /back…$/ })).toBeNull();
});

test('the presets that are taken back are named, and a paid one among them is told of', async () => {
  const names = ['Lead', 'Clean', 'Crunch', 'Fuzz', '\u202eBass', 'Pad', 'Keys'];
  const shared = names.map((name, at) => ({ id: `itm_${at}`, name, status: 'shared' as const }));
  const open = async (more: Partial<Delivery>, items = shared) => {
    cleanup();
    const it = aDelivery({ status: 'completed', allowedActions: ['revoke'], ...itemsOf(...items), ...more });
    await show(
      <Questions it={it}>
        <LazyActions it={it} />
      </Questions>,
    );
    const user = userEvent.setup();
    await user.click(await button('More'));
    await user.click(await screen.findByRole('menuitem', { name: 'Take presets back…' }));
    await button('Take back');
    return screen.getByRole('dialog').textContent;
  };
  const paid =
    'Presets of products that are still paid for are taken back too. To take one back alone, use the arrow beside it under “Presets”.';
  const other = 'A preset that another order of the buyer has too stays with them.';

  const whole = await open({});
  expect(whole).toContain('Lead, Clean, Crunch, Fuzz, U+202EBass, 2 more');
  expect(whole).toContain(other);
  expect(whole).not.toContain(paid);
  const inPart = { refunded: true, refundedInPart: true };
  expect(await open(inPart)).toContain(paid);
  expect(await open({ refunded: true })).not.toContain(paid); // the whole of it, whatever its lines say
  const two = await open({}, shared.slice(0, 2));
  expect(two).toContain('Lead, Clean');
  const one = await open(inPart, shared.slice(0, 1));
  expect(one).toContain('Take Lead back from @jonasek_?');
  expect(one).not.toContain(paid); // it has no arrow, and is named
});

test('only what is owed counts as delivered by hand', async () => {
  const held = { status: 'in_review', reviewReason: 'too_large', allowedActions: ['complete'] } as const;
  const { user, changes, client } = await page(
    aDelivery({
      ...held,
      allowedActions: ['complete'],
      ...itemsOf({ status: 'shared', credits: 1 }, {}, {}, { former: true }),
    }),
  );
  await user.click(await button('Mark as delivered by hand…'));
  await screen.findByText('2 presets count as delivered. No credit is spent.');
  changes(aDelivery({ ...held, allowedActions: ['complete'], ...itemsOf({ status: 'shared', credits: 1 }) }));
  await screen.findByText('The order counts as complete.');
  receivers(client, receiver({ eventTypes: ['delivery.completed'] }));
  await screen.findByText('The order counts as complete. Your shop is told so.');
});

test.each([
  [1, 'The preset is being taken back.'],
  [2, 'The presets are being taken back.'],
])('the toast names as many presets as are taken back: %i', async (count, says) => {
  const items = Array.from({ length: count }, (_, at) => ({ id: `itm_${at}`, status: 'shared' as const }));
  const it = aDelivery({ status: 'completed', allowedActions: ['revoke'], ...itemsOf(...items) });
  serve(() => Response.json(it));
  const user = userEvent.setup();
  await show(
    <>
      <Questions it={it}>
        <LazyActions it={it} />
      </Questions>
      <Toasts />
    </>,
  );
  await user.click(await button('More'));
  await user.click(await screen.findByRole('menuitem', { name: 'Take presets back…' }));
  await user.click(await button('Take back'));
  await screen.findByText(says);
});

test('the facts say what was spent and what will be', async () => {
  const credits = async (...differ: Parameters<typeof itemsOf>) => {
    cleanup();
    const it = aDelivery(itemsOf(...differ));
    await show(
      <Questions it={it}>
        <DeliveryFacts it={it} />
      </Questions>,
    );
    return (await screen.findAllByText(/credits? /)).map(({ textContent }) => textContent);
  };
  const former = { status: 'shared', former: true, username: 'jo', credits: 1 } as const;
  expect(await credits({}, {}, former)).toEqual(['1 credit spent', '2 credits will be spent when shared']);
  // Taken back and owed again: its credit is spent already.
  expect(await credits({ credits: 1 }, { status: 'delivered_by_hand' })).toEqual(['1 credit spent']);
});

test('the facts lead to the order and its payload', async () => {
  const it = aDelivery({});
  await show(
    <Questions it={it}>
      <DeliveryFacts it={it} />
    </Questions>,
  );
  const link = await screen.findByRole('link', { name: 'Open the order' });
  expect(link.getAttribute('href')).toBe('/orders/ord_0a1b2c3d4e5f6');
});

test('a link that the clipboard refuses is selected, and said to be', async () => {
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('denied'));
  const it = aDelivery({});
  await show(
    <>
      <Questions it={it}>
        <DeliveryFacts it={it} />
      </Questions>
      <Toasts />
    </>,
  );
  fireEvent.click(await button('Copy link'));
  await screen.findByText(/^The clipboard refused/);
  expect(getSelection()?.toString()).toBe(it.buyerUrl);
});

test.each([
  [
    'dropped',
    'Nothing of it is left to deliver. If you approve it, it stops again, until your shop reports it as paid.',
  ],
  ['owed', 'Nothing is sent until you approve it.'],
] as const)('reopening says what an approval does: %s', async (status, says) => {
  const stopped = { status: 'invalidated', reason: 'nothing_to_deliver' } as const;
  const { user } = await page(aDelivery({ ...stopped, allowedActions: ['reopen'], ...itemsOf({ status }) }));
  await user.click(await button(/^Reopen/));
  await screen.findByText(says);
});
