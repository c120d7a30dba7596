// A new webhook: its address, its secret, and the test that is sent on leaving it.
import { useLocation, useNavigate } from '@tanstack/react-router';
import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useEffect } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { Toasts } from '@/components/toasts';
import { signInConfig } from '@/session/config';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import './SubscriptionForm'; // the dialog loads it when it is opened
import { NewWebhookButton, Webhooks } from './Webhooks';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ID = 'sub_0a1b2c3d4e5f6';
let at = '';
let go: (search: Record<string, string>) => void = () => undefined;
function Page() {
  const href = useLocation({ select: (location) => location.href });
  const navigate = useNavigate();
  useEffect(() => {
    at = href;
    go = (search) => void navigate({ to: '/', search: search as never });
  }, [href, navigate]);
  return (
    <>
      <NewWebhookButton />
      <Toasts />
    </>
  );
}

test.each([
  ['the page of the event shows it', 202, `/integrations/webhooks/${ID}?event=evt_1`],
  ['a test that is refused is said to be', 429, `/integrations/webhooks/${ID}`],
])('the test is sent once the secret is stored: %s', async (_, status, leadsTo) => {
  const sent: string[] = [];
  serve(({ method, url }) => {
    const path = new URL(url).pathname;
    if (method === 'POST') sent.push(path);
    if (!path.endsWith('/test')) return Response.json({ id: ID, secret: 'whsec_x' }, { status: 201 });
    return status === 202
      ? Response.json({ eventId: 'evt_1' }, { status })
      : Response.json({ error: { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many tests.' } }, { status });
  });
  const user = userEvent.setup();
  await show(<Page />);
  await user.click(await screen.findByRole('button', { name: 'Add a webhook' }));
  expect(at).toBe('/?new=webhook');
  await user.type(await screen.findByLabelText('Webhook URL'), 'https://hooks.example/x');
  await user.click(screen.getByRole('button', { name: 'Add webhook' }));
  await screen.findByText('whsec_x');
  expect([at, sent]).toEqual(['/', ['/api/webhook-subscriptions']]);
  await user.click(screen.getByLabelText('I have stored it in a safe place'));
  await user.click(screen.getByRole('button', { name: 'Done' }));
  await vi.waitFor(() => expect(at).toBe(leadsTo));
  expect(sent).toEqual(['/api/webhook-subscriptions', `/api/webhook-subscriptions/${ID}/test`]);
  expect(screen.queryAllByText('Too many tests.')).toHaveLength(status === 202 ? 0 : 1);
});

test('its form has an address', async () => {
  await show(<Page />);
  expect(screen.queryByRole('dialog')).toBeNull();
  act(() => go({ new: 'webhook', status: 'x' }));
  await screen.findByLabelText('Webhook URL');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Cancel' }));
  await vi.waitFor(() => expect(at).toBe('/?status=x'));
});

const PUBLIC = 'must be an https URL of a host on the public internet';
test.each([
  [false, 'http://hooks.example/x', `${PUBLIC}; the URL's scheme is not https`, 'Start the address with https://'],
  [
    true,
    'http://10.0.0.1/x',
    `${PUBLIC}, or a URL of this machine; the URL's host is an address that may not be called`,
    "This address is not accepted: the URL's host is an address that may not be called.",
  ],
  [true, 'ftp://hooks.example', `${PUBLIC}; the URL's scheme is neither`, 'Start the address with https://'],
  [false, 'https://hooks.example/x', 'is too long', 'is too long'],
])('an address that is refused has one reason: sandbox %s, %s', async (sandbox, url, problem, says) => {
  serve(() =>
    Response.json(
      { error: { code: 'VALIDATION_FAILED', message: 'x', details: [{ field: 'url', problem }] } },
      { status: 422 },
    ),
  );
  const user = userEvent.setup();
  const { client } = await show(<Page />);
  act(() => void client.setQueryData(signInConfig().queryKey, { sandbox } as never));
  await user.click(await screen.findByRole('button', { name: 'Add a webhook' }));
  const field = await screen.findByLabelText('Webhook URL');
  await user.type(field, url);
  await user.click(screen.getByRole('button', { name: 'Add webhook' }));
  await vi.waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
  const [hint, fault] = ['description', 'error'].map((part) => document.getElementById(`${field.id}-${part}`));
  expect(fault?.textContent).toBe(says);
  expect(/in this sandbox also on this machine/.test(hint?.textContent ?? '')).toBe(sandbox);
});

test('without a webhook the button stands in the empty box alone', async () => {
  const { client } = await show(<Webhooks />);
  act(() => void client.setQueryData(queries.subscriptions().queryKey, { data: [] } as never));
  await screen.findByText('No outbound webhook yet');
  const buttons = screen.getAllByRole('button', { name: 'Add a webhook' });
  expect(buttons.map((button) => button.closest('header') === null)).toEqual([true]);
});
