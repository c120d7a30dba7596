// A question stays when the delivery changes under it.
import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { aDelivery, failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
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
