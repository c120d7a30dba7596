// Each way to fail has its panel: what it is called, and what solves it in place.
import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { session } from '@/session';
import { failedFor, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { CODES, type Code } from '@/vocabulary/delivery';
import type { Delivery } from './types';
import { FixPanel } from './FixPanel';
import { Stay } from './onward';
import { Questions } from './Questions';

// No answer comes: what a panel says does not depend on one.
beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const panel = (it: Delivery) => (
  <Questions it={it}>
    <FixPanel it={it} />
  </Questions>
);

const SOLVES: Record<Code, [heading: string, control: string]> = {
  username_missing: ['Whose order is this?', 'Save and deliver'],
  username_not_found: ['Username not found', 'Save and retry'],
  friend_request_declined: ['The buyer declined', 'Ask again'],
  friendship_timeout: ['No answer for 14 days', 'Wait 14 more days'],
  blocked_by_customer: ['The buyer blocks you', 'Copy message'],
  credentials_missing: ['No cloud login', 'Connect cloud account'],
  credentials_invalid: ['Your cloud login was refused', 'Sign in again'],
  preset_not_found: ['A preset is missing', 'Use this file'],
  preset_not_shareable: ['This preset cannot be shared', 'Use and retry'],
  insufficient_credits: ['Not enough credits', 'Buy credits'],
  cloud_unavailable: ['The cloud platform is away', 'Retry now'],
  cloud_rejected: ['Refused without a reason', 'Retry'],
  order_too_large: ['Too many products', 'Mark as delivered by hand…'],
  internal_error: ['Our fault', 'Retry'],
};

test.each(CODES)('%s', async (code) => {
  await show(panel(failedFor(code)));
  const [heading, control] = SOLVES[code];
  expect(screen.getByRole('heading', { level: 2 }).textContent).toBe(heading);
  await screen.findByText(control);
  expect(document.body.textContent).toContain('Nothing was shared and no credit was spent.');
});

test.each([
  ['credentials_missing', 'Only an owner can change the cloud login.', 'Connect cloud account'],
  ['insufficient_credits', 'Only an owner can buy credits.', 'Buy credits'],
] as const)('a member reads that only an owner solves it: %s', async (code, says, control) => {
  await show(panel(failedFor(code)), { role: 'member' });
  await screen.findByText(says);
  expect(screen.queryByText(control)).toBeNull();
});

test('credits are bought where they are sold, and asked for elsewhere', async () => {
  const pack = { id: 'small', credits: 50 };
  const { client } = await show(panel(failedFor('insufficient_credits')));
  act(() => client.setQueryData(['credits', 'packs'], { data: [pack] }));
  await screen.findByText(
    /^This needs 3 credits and you have 0\. It goes on by itself after you buy, the oldest deliveries first\./,
  );
  await screen.findByRole('link', { name: 'Buy credits' });
  act(() => client.setQueryData(['credits', 'packs'], { data: [] }));
  await screen.findByText(/It goes on by itself once there are more, the oldest deliveries first\./);
  await screen.findByRole('link', { name: 'See credits' });
  screen.getByText('Ask the operator for credits');
});

test('the message is the first thing to do where the buyer blocks, and its only button', async () => {
  await show(panel(failedFor('blocked_by_customer')));
  const [message, ...more] = await screen.findAllByRole('button', { name: 'Copy message' });
  expect([message?.dataset.variant, more.length]).toEqual(['filled', 0]);
});

test.each([
  ['Wait 14 more days', { keepFriendRequest: true }],
  ['Withdraw and ask again', {}],
])('after no answer: %s', async (button, body) => {
  const it = failedFor('friendship_timeout');
  const sent: unknown[] = [];
  vi.spyOn(session, 'token').mockResolvedValue('token');
  serve(async (request) => {
    if (request.url.endsWith('/retry')) sent.push(await request.json());
    return Response.json({ ...it, status: 'queued', resolutionCode: null });
  });
  await show(panel(it));
  await userEvent.click(await screen.findByRole('button', { name: button }));
  await waitFor(() => expect(sent).toEqual([body]));
});

test.each(['friendship_timeout', 'order_too_large'] as const)(
  'it can be stopped where it is allowed: %s',
  async (code) => {
    const user = userEvent.setup();
    await show(panel(failedFor(code)));
    await user.click(await screen.findByRole('button', { name: 'Stop delivery…' }));
    await screen.findByRole('dialog', { name: 'Stop this delivery?' });
    cleanup();
    await show(panel(failedFor(code, { allowedActions: ['retry'] })));
    expect(screen.queryByRole('button', { name: 'Stop delivery…' })).toBeNull();
  },
);

test('what is not allowed is not offered', async () => {
  await show(panel(failedFor('cloud_rejected', { allowedActions: [] })));
  expect(screen.queryByRole('button')).toBeNull();
});

test('what was shared is said', async () => {
  await show(panel(failedFor('internal_error', itemsOf({ status: 'shared', credits: 1 }, {}, {}))));
  expect(document.body.textContent).toContain('1 of 3 presets was shared. 1 credit was spent.');
});

const AT = '2026-11-22T13:21:05.000Z';
test.each([
  ['it was with a former username', [{ status: 'shared', former: true, credits: 1 }, {}], '1 preset was shared with a former username. 1 credit was spent.'],
  ['it was taken back', [{ status: 'revoked', sharedAt: AT, credits: 1 }, {}], '1 of 2 presets was shared. 1 credit was spent.'],
  ['the buyer had it', [{ status: 'already_shared' }, {}], '1 of 2 presets was shared. No credit was spent.'],
  ['no answer came', [{ status: 'sharing' }, {}], 'It is not known yet whether 1 preset was shared. No credit was spent.'],
  ['it was delivered by hand', [{ status: 'delivered_by_hand' }, {}], 'Nothing was shared and no credit was spent.'],
  ['it was a dry run', [{ status: 'shared', dryRun: true }, {}], 'Nothing was shared and no credit was spent.'],
] as const)('what was shared is said, also where %s', async (_, items, says) => {
  await show(panel(failedFor('internal_error', itemsOf(...items))));
  expect(document.body.textContent).toContain(says);
  if (!says.startsWith('Nothing')) expect(document.body.textContent).not.toContain('Nothing was shared');
}); // prettier-ignore

test('a code that is newer than this page shows the service’s own words', async () => {
  await show(panel(failedFor('levitating' as Code)));
  expect(screen.getByRole('heading', { level: 2 }).textContent).toBe('Title');
  expect(document.body.textContent).toContain('Text.');
});

test('the field begins with what was tried, and says how it was typed', async () => {
  await show(panel(failedFor('username_not_found')));
  const field = (await screen.findByLabelText('Username on the cloud platform')) as HTMLInputElement;
  expect(field.value).toBe('jonasek_');
  expect(document.body.textContent).toContain('The buyer typed “Jonasek_␣” in the order.');
});

test('what somebody types stays while the delivery changes', async () => {
  let change: (it: Delivery) => void = () => undefined;
  function Live() {
    const [it, set] = useState(failedFor('username_not_found'));
    change = set;
    return panel(it);
  }
  await show(<Live />);
  const field = (await screen.findByLabelText('Username on the cloud platform')) as HTMLInputElement;
  const next = (more: Partial<Delivery>) =>
    act(() => change(failedFor('username_not_found', { updatedAt: new Date().toISOString(), ...more })));
  next({ targetUsername: 'tried_by_another' });
  expect(field.value).toBe('tried_by_another');
  await userEvent.clear(field);
  await userEvent.type(field, 'half a na');
  next({ attemptCount: 7 });
  next({ targetUsername: 'and_another' });
  expect(field.isConnected).toBe(true);
  expect(field.value).toBe('half a na');
});

test('an e-mail address is no username', async () => {
  const sent: string[] = [];
  vi.stubGlobal('fetch', ({ url, method }: Request) => {
    if (method === 'POST') sent.push(new URL(url).pathname);
    return new Promise(() => undefined);
  });
  await show(panel(failedFor('username_not_found')));
  const field = await screen.findByLabelText('Username on the cloud platform');
  await userEvent.clear(field);
  await userEvent.type(field, 'jonas@posteo.net{Enter}');
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toBe('That looks like an e-mail address. Type the username of the profile.');
  expect(sent).toEqual([]);
});

test('Enter pressed twice sends one retry', async () => {
  const sent: string[] = [];
  vi.spyOn(session, 'token').mockResolvedValue('token');
  vi.stubGlobal('fetch', ({ url, method }: Request) => {
    if (method === 'POST') sent.push(new URL(url).pathname);
    return new Promise(() => undefined);
  });
  await show(panel(failedFor('username_not_found')));
  const field = await screen.findByLabelText('Username on the cloud platform');
  await userEvent.type(field, '{Enter}{Enter}');
  await waitFor(() => expect(sent.length).toBeGreaterThan(0));
  await new Promise((done) => setTimeout(done, 50));
  expect(sent).toEqual(['/api/deliveries/del_0a1b2c3d4e5f6/retry']);
});

test.each([
  ['a retry', 'internal_error', 'Retry'],
  ['a username', 'username_not_found', 'Save and retry'],
] as const)('%s that fails leads to no other delivery', async (_, code, name) => {
  const stay = vi.fn();
  vi.spyOn(session, 'token').mockResolvedValue('token');
  serve(() => Response.json({ error: { code: 'X', message: 'No.' } }, { status: 400 }));
  await show(<Stay value={stay}>{panel(failedFor(code))}</Stay>);
  await userEvent.click(await screen.findByRole('button', { name }));
  await waitFor(() => expect(stay).toHaveBeenCalledOnce());
});
test('an order that is too large is said to have so many files', async () => {
  await show(panel(failedFor('order_too_large', { size: { products: null, files: 501, limit: 500 } })));
  await screen.findByText(/^This order has 501 files; the limit is 500\. It is not delivered automatically\./);
});
test('nor does a question', async () => {
  const stay = vi.fn();
  await show(<Stay value={stay}>{panel(failedFor('order_too_large'))}</Stay>);
  await userEvent.click(await screen.findByRole('button', { name: 'Mark as delivered by hand…' }));
  expect(stay).toHaveBeenCalledOnce();
});

test('where nobody answered, the ways to go on stand in one row, and the ways to end it in another', async () => {
  await show(panel(failedFor('friendship_timeout')));
  await screen.findByRole('button', { name: 'Wait 14 more days' });
  const rowOf = (name: string) => screen.getByRole('button', { name }).parentElement;
  expect(rowOf('Withdraw and ask again')).toBe(rowOf('Wait 14 more days'));
  expect(rowOf('Stop delivery…')).toBe(rowOf('Mark as delivered by hand…'));
  expect(rowOf('Stop delivery…')).not.toBe(rowOf('Wait 14 more days'));
});
