// A question stays when the delivery changes under it.
import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { aDelivery, failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { ActionsMenu } from './ActionsMenu';
import { DeliveryFacts } from './DeliveryFacts';
import type { Delivery } from './types';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
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
  await show(<Page />);
  return { user: userEvent.setup(), changes: (it: Delivery) => change(it) };
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
  const failed = failedFor('username_not_found', { sharedCount: 1 });
  const { user, changes } = await page(failed);
  const field = await screen.findByLabelText('Username on the cloud platform');
  await user.clear(field);
  await user.type(field, 'kim');
  await user.click(await button(/^Save/));
  await button('Send to @kim');
  changes(aDelivery({ status: 'invalidated', reason: 'x', allowedActions: ['reopen'] }));
  expect((await button('Can no longer be sent')).disabled).toBe(true);
  expect(screen.getByRole('alert').textContent).toBe('This delivery changed meanwhile. It is now “Stopped”.');
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
      <ActionsMenu it={it} />
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
  expect(screen.queryByRole('menuitem', { name: 'Take presets back…' })).toBeNull();
  await user.keyboard('{Escape}');
  await user.click(await button('Take back…'));
  await screen.findByText('Take 2 presets back from @jonasek_?');
  await user.click(await button('Take back'));
  await vi.waitFor(() => expect(sent).toEqual([['revoke', { itemIds: ['itm_1', 'itm_2'] }]]));
  cleanup();

  await show(<Page it={now([item('itm_5', 'jonasek', 'revoke_failed'), item('itm_6', 'jonasek', 'owed')])} />);
  await user.click(await button('More'));
  await user.click(await screen.findByRole('menuitem', { name: 'Take presets back…' }));
  await screen.findByText('Take 1 preset back from @jonasek?');
  await user.click(await button('Take back'));
  await vi.waitFor(() => expect(sent.at(-1)).toEqual(['revoke', { itemIds: ['itm_5'] }]));
});
