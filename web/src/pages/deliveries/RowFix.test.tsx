import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Toasts } from '@/components/toasts';
import { aDelivery, failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { DeliveryRows } from './DeliveryRows';
import './RowFix'; // rows load it when they need it

let sent: unknown[];
beforeEach(() => {
  sent = [];
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request === 'string') {
      const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
      return Response.json({ ...tokens, accountId: 'acc_1' });
    }
    sent.push([new URL(request.url).pathname, await request.json()]);
    return Response.json(aDelivery());
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const PATH = '/api/deliveries/del_0a1b2c3d4e5f6/retry';
const row = (rows: Parameters<typeof DeliveryRows>[0]['rows'], solves = true) =>
  show(<DeliveryRows rows={rows} list="" solves={solves} />);

test('a delivery that was refused is retried in its row', async () => {
  await row([failedFor('cloud_rejected')]);
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Retry #4124' }));
  await vi.waitFor(() => expect(sent).toEqual([[PATH, {}]]));
});

test('a wrong username is typed in the row', async () => {
  await row([failedFor('username_not_found')]);
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Enter the username of #4124' }));
  const field = await screen.findByLabelText<HTMLInputElement>('Username on the cloud platform');
  expect(field.value).toBe('jonasek_');
  await user.clear(field);
  await user.click(screen.getByRole('button', { name: 'Save and retry' }));
  expect(sent).toEqual([]);
  await screen.findByText('Type the username.');
  await user.type(field, 'jonas@posteo.net{Enter}');
  await screen.findByText('That looks like an e-mail address. Type the username of the profile.');
  expect(sent).toEqual([]);
  await user.clear(field);
  await user.type(field, ' @jonasek{Enter}');
  await vi.waitFor(() => expect(sent).toEqual([[PATH, { targetUsername: 'jonasek' }]]));
  await vi.waitFor(() => expect(screen.queryByLabelText('Username on the cloud platform')).toBeNull());
});

test('a problem that needs more than that is solved on the page of the delivery', async () => {
  await row([
    failedFor('username_not_found', { id: 'del_1', sharedCount: 1 }), // the presets that were shared are asked about there
    failedFor('preset_not_found', { id: 'del_2' }),
    failedFor('credentials_invalid', { id: 'del_3' }),
    aDelivery({ id: 'del_4' }),
    failedFor('cloud_rejected', { id: 'del_5', orderNumber: '#5' }),
  ]);
  await screen.findByRole('button', { name: 'Retry #5' });
  expect(screen.getAllByRole('button')).toHaveLength(1);
  cleanup();
  await row([failedFor('cloud_rejected')], false);
  expect(screen.queryAllByRole('button')).toEqual([]);
});

test('a delivery that has changed meanwhile is shown', async () => {
  serve(({ method }) =>
    method === 'POST'
      ? Response.json({ error: { code: 'INVALID_TRANSITION', message: 'No.' } }, { status: 409 })
      : Response.json(aDelivery({ status: 'completed' })),
  );
  const user = userEvent.setup();
  await show(
    <>
      <DeliveryRows
        rows={[failedFor('cloud_rejected'), failedFor('username_missing', { id: 'del_2', orderNumber: '#2' })]}
        list=""
        solves
      />
      <Toasts />
    </>,
  );
  await user.click(await screen.findByRole('button', { name: 'Retry #4124' }));
  await screen.findByText('Not done: the delivery is now “Completed”.');
  const [first] = await screen.findAllByRole('link', { name: 'Show it' });
  expect(first?.getAttribute('href')).toBe('/deliveries/del_0a1b2c3d4e5f6');
  await user.click(screen.getByRole('button', { name: 'Enter the username of #2' }));
  await user.type(await screen.findByLabelText('Username on the cloud platform'), '{Enter}');
  await vi.waitFor(() => expect(screen.getAllByRole('link', { name: 'Show it' })).toHaveLength(2));
  expect(screen.queryByLabelText('Username on the cloud platform')).toBeNull();
});

test('why a delivery of the same status was not changed is said by the service', async () => {
  const it = failedFor('cloud_rejected');
  const error = { code: 'INVALID_TRANSITION', message: 'The file of this delivery is gone.' };
  serve(({ method }) => (method === 'POST' ? Response.json({ error }, { status: 409 }) : Response.json(it)));
  await show(
    <>
      <DeliveryRows rows={[it]} list="" solves />
      <Toasts />
    </>,
  );
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Retry #4124' }));
  await screen.findByText(error.message);
});
