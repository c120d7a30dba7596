// A rehearsal claims nothing that did not happen.
import { cleanup, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { lineOf } from '@/vocabulary/delivery_line';
import { DeliveryRows } from '../deliveries/DeliveryRows';
import { Recent } from '../overview/Recent';
import { DeliveryFacts } from './DeliveryFacts';
import { Journey } from './Journey';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import { Timeline } from './Timeline';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const AT = '2026-11-22T13:21:05.016Z';
const SAID = 'Dry run: the order would have been delivered. Nothing was shared and no credit was spent.';
const KEYS = ['order_received', 'buyer_found', 'friend_request', 'accepted', 'shared'] as const;
const rehearsed = aDelivery({
  ...itemsOf({ status: 'shared', dryRun: true }, { status: 'shared', dryRun: true }),
  status: 'completed',
  dryRun: true,
  completedAt: AT,
  message: SAID,
  steps: KEYS.map((key) => ({ key, state: 'done', at: null })),
  timeline: [
    {
      id: '1', at: AT, type: 'completed', kind: 'attempt', actor: 'system', actorName: null, status: 'completed', resolutionCode: null,
      message: SAID, attempt: 1, durationMs: null, itemId: null, data: {},
    },
  ],
}); // prettier-ignore

test('its page', async () => {
  const { container } = await show(
    <Questions it={rehearsed}>
      <Journey it={rehearsed} />
      <DeliveryPanel it={rehearsed} />
      <DeliveryFacts it={rehearsed} />
      <Timeline it={rehearsed} />
    </Questions>,
  );
  await screen.findByText(
    /^Rehearsed .+\. The buyer would get \W*Preset 1\W* and \W*Preset 2\W*\. Nothing was shared and no credit was spent\.$/,
  );
  expect(screen.getAllByText('Would be shared')).toHaveLength(3);
  screen.getByText('Rehearsed', { selector: '.strong' });
  screen.getByText('The order would be delivered. Nothing was shared and no credit was spent.');
  const steps = screen.getByRole('list', { name: 'Journey' });
  expect([...steps.children].map(({ textContent }) => textContent)).toEqual(['Order received', 'Would be shared']);
  expect(container.textContent).not.toMatch(/Delivered|Completed|Accepted|Friend request|All 5 steps/);
});

test('a step that stops it is shown', async () => {
  const it = aDelivery({
    ...rehearsed,
    status: 'failed',
    resolutionCode: 'username_missing',
    steps: KEYS.map((key, at) => ({ key, state: at === 0 ? 'done' : at === 1 ? 'stopped' : 'ahead', at: null })),
  });
  await show(<Journey it={it} />);
  await screen.findByText('At step 2 of 5.');
  const steps = screen.getByRole('list', { name: 'Journey' });
  expect([...steps.children].map(({ textContent }) => textContent)).toEqual([
    'Order received',
    'Username missing',
    'Would be shared',
  ]);
});

test('the lists', async () => {
  const { container } = await show(
    <>
      <Recent rows={[rehearsed]} store={undefined} />
      <DeliveryRows rows={[rehearsed]} list="" />
    </>,
  );
  await screen.findByText('Rehearsed, 2 presets would be shared for', { exact: false });
  screen.getByText('Rehearsed', { exact: true });
  expect(container.textContent).not.toMatch(/Completed|Shared/);
  expect(lineOf(rehearsed)).toBe('nothing was shared');
});
