// A double click submits a form once.
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { NewKey } from './keys/NewKey';
import { StoreForm } from './stores/NewStore';
import { SubscriptionForm } from './webhooks/SubscriptionForm';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const nothing = () => undefined;
test.each([
  ['/api/keys', 'Name', 'Website', <NewKey key="2" opened onClose={nothing} onIssued={nothing} />],
  ['/api/integrations', 'What do you call it?', 'Marlow', <StoreForm key="3" onMade={nothing} />],
  [
    '/api/webhook-subscriptions',
    'Webhook URL',
    'https://shop.example',
    <SubscriptionForm key="1" onMade={nothing} onCancel={nothing} />,
  ],
])('two submits make one request to %s', async (path, label, typed, form) => {
  const sent: string[] = [];
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request === 'string') {
      const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
      return Response.json({ ...tokens, accountId: 'acc_1' });
    }
    sent.push(new URL(request.url).pathname);
    return Response.json({ code: 'INTERNAL_ERROR', message: 'No.' }, { status: 500 });
  });
  await show(form);
  const field = await screen.findByLabelText(label);
  fireEvent.change(field, { target: { value: typed } });
  const element = field.closest('form') as HTMLFormElement;
  fireEvent.submit(element);
  fireEvent.submit(element);
  await screen.findByRole('alert');
  expect(sent).toEqual([path]);
  // A refused submit can be repeated.
  fireEvent.submit(element);
  await vi.waitFor(() => expect(sent).toEqual([path, path]));
});
