import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { Cloud } from './Cloud';
import { CloudForm } from './CloudForm';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const refused = { status: 'invalid', unreadable: false, cloudUsername: 'marlow', maskedEmail: null, checkedAt: null };

async function page(role: 'owner' | 'member') {
  const { client } = await show(<Cloud />, { role });
  act(() => void client.setQueryData(queries.cloud().queryKey, refused as never));
  await screen.findByText('The cloud platform refuses this login');
}

test('an owner has a refused login checked again beside the form, or deletes it', async () => {
  serve(({ url }) => Response.json(url.endsWith('/validate') ? { ...refused, status: 'valid' } : { data: [] }));
  await page('owner');
  await screen.findByRole('button', { name: 'Save login' });
  expect(screen.queryByRole('button', { name: 'Change login' })).toBeNull();
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name: 'Delete login…' }));
  await screen.findByText('Delete the cloud login?');
  await user.click(await screen.findByRole('button', { name: 'Cancel' }));
  await user.click(screen.getByRole('button', { name: 'Check now' }));
  await screen.findByText('marlow', { selector: 'h2 bdi' });
});

test('the deliveries that need the login are counted before it is deleted', async () => {
  const { client } = await show(<Cloud />);
  act(() => void client.setQueryData(queries.cloud().queryKey, refused as never));
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Delete login…' }));
  await screen.findByText('Delete the cloud login?');
  const { queryKey } = queries.deliveryCount({ status: 'queued,processing,waiting_for_friendship' });
  const are = (count: number, countIsExact: boolean) =>
    act(() => void client.setQueryData(queryKey, { data: [], nextCursor: null, count, countIsExact }));
  are(12, true);
  await screen.findByText('12 deliveries are under way.');
  are(10_000, false);
  await screen.findByText('More than 10,000 deliveries are under way.');
  are(0, true);
  await screen.findByText('No delivery is under way.');
});

test('a member reads that owners change it', async () => {
  await page('member');
  await screen.findByText('Only an owner can change the cloud login.');
  expect(screen.queryByRole('button')).toBeNull();
});

test('the buyers of the cloud user are counted, and when they were last looked at', async () => {
  const { client } = await show(<Cloud />);
  const friends = { requested: 4, friends: 210, declined: 1, blocked: 0, countIsExact: true, lastSweepAt: null };
  act(() => {
    client.setQueryData(queries.cloud().queryKey, refused as never);
    client.setQueryData(queries.cloudFriends().queryKey, friends);
  });
  await screen.findByText('210 friends, 4 asked, 1 declined');
  await screen.findByText('None yet');
  act(() => void client.setQueryData(queries.cloudFriends().queryKey, { ...friends, countIsExact: false } as never));
  await screen.findByText('At least 210 friends, 4 asked, 1 declined');
});

test('a refused login says how many attempts are left', async () => {
  serve(({ method }) =>
    method === 'PUT'
      ? Response.json({ error: { code: 'INVALID_CREDENTIALS', message: 'x', attemptsLeft: 4 } }, { status: 401 })
      : Response.json({ data: [] }),
  );
  await page('owner');
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText(/^E-mail/), 'm@example.com');
  await user.type(screen.getByLabelText(/^Password/), 'wrong');
  await user.click(screen.getByRole('button', { name: 'Save login' }));
  expect((await screen.findByRole('alert')).textContent).toMatch(/4 attempts left for now\.$/);
});

test.each([
  ['RATE_LIMIT_EXCEEDED', 'valid', 'Too many attempts to log in. Try again in 2 min. The saved login still works.'],
  ['RATE_LIMIT_EXCEEDED', 'invalid', 'Too many attempts to log in. Try again in 2 min.'],
  ['UNKNOWN', 'valid', 'Too many requests. Try again in 2 min.'],
])('%s is said as what it is, and whether the saved login works: %s', async (code, status, says) => {
  serve(({ method }) =>
    method === 'PUT'
      ? Response.json({ error: { code, message: 'x' } }, { status: 429, headers: { 'retry-after': '120' } })
      : Response.json({ data: [] }),
  );
  const { client } = await show(<CloudForm button="Save login" />);
  act(() => void client.setQueryData(queries.cloud().queryKey, { ...refused, status } as never));
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText(/^E-mail/), 'm@example.com');
  await user.type(screen.getByLabelText(/^Password/), 'wrong');
  await user.click(screen.getByRole('button', { name: 'Save login' }));
  expect((await screen.findByRole('alert')).textContent).toBe(says);
});
