// The buyer has accepted, and the job that shares the presets has not begun.
import { cleanup, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { shownStatus, shownWord } from './accepted';
import { Journey } from './Journey';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import { Timeline } from './Timeline';
import type { Delivery } from './types';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const KEYS = ['order_received', 'buyer_found', 'friend_request', 'accepted', 'shared'] as const;
const AT = '2026-11-22T13:21:05.000Z';

const waiting = (done: number, more: Partial<Delivery> = {}) =>
  aDelivery({
    status: 'waiting_for_friendship',
    requestedAt: AT,
    nextLookAt: '2999-11-22T13:21:05.000Z',
    givesUpAt: '2999-12-06T13:21:05.000Z',
    queuePosition: null,
    steps: KEYS.map((key, n) => ({ key, state: n < done ? 'done' : n === done ? 'current' : 'ahead', at: null })),
    ...more,
  });
const page = (it: Delivery) =>
  show(
    <Questions it={it}>
      <Journey it={it} />
      <DeliveryPanel it={it} />
      <Timeline it={it} />
    </Questions>,
  );
const lastStep = () => screen.getByRole('list', { name: 'Journey' }).lastElementChild?.textContent;

test('its page says that the presets are shared next, and asks nobody', async () => {
  const it = waiting(4);
  const { container } = await page(it);
  await screen.findByText(
    (_, element) => element?.textContent === '@jonasek_ has accepted. The presets are in line to be shared.',
    { selector: 'p' },
  );
  expect(lastStep()).toBe('In line');
  expect(container.textContent).toContain('Step 5 of 5. In line');
  expect(container.textContent).not.toMatch(/Waiting for|Asked|Next check|We check|Tell the buyer/);
  expect(screen.queryAllByRole('button')).toEqual([]);
  expect([shownStatus(it), shownWord(it)]).toEqual(['queued', 'In line']);
});

test.each([
  ['has not accepted', waiting(3)],
  ['was shared one before', waiting(4, itemsOf({ status: 'shared' }, {}))],
])('a delivery whose buyer %s waits for the buyer', async (_, it) => {
  await page(it);
  await screen.findByText('Copy reminder');
  screen.getByRole('heading', { name: /^Waiting for/ });
  expect([shownStatus(it), shownWord(it)]).toEqual(['waiting_for_friendship', 'Waiting for buyer']);
});
