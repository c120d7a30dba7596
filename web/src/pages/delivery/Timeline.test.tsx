import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { lookOf } from '@/vocabulary/delivery';
import { Timeline } from './Timeline';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('older entries that cannot be read are said to be missing, and can be asked for again', async () => {
  let answers = 0;
  serve(() => {
    answers += 1;
    return answers === 1
      ? Response.json({ error: { code: 'INTERNAL_ERROR', message: 'x' } }, { status: 500 })
      : Response.json({ data: [], nextCursor: null });
  });
  await show(<Timeline it={aDelivery({ timelineNextCursor: 'c' })} />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Show older' }));
  expect((await screen.findByRole('alert')).textContent).toBe(
    'Older entries could not be loaded. Something went wrong on our side.',
  );
  await user.click(screen.getByRole('button', { name: 'Show older' }));
  await vi.waitFor(() => expect(screen.queryByRole('button', { name: 'Show older' })).toBeNull());
  expect(screen.queryByRole('alert')).toBeNull();
});

test.each([
  ['already_shared', 'The buyer already had all presets.'],
  ['shared', 'All presets were shared.'],
] as const)('the end says what was shared: %s', async (status, says) => {
  const entry = { id: '1', at: '2026-11-22T13:21:05.000Z', type: 'completed', kind: 'attempt', actor: 'system', actorName: null, status: 'completed', resolutionCode: null, message: 'All files were shared with the customer.', attempt: 1, durationMs: null, itemId: null, data: {} } as const; // prettier-ignore
  await show(<Timeline it={aDelivery({ ...itemsOf({ status }), status: 'completed', timeline: [entry] })} />);
  await screen.findByText(says);
});

test('a failure that is over is no longer in its colour: the newest line has the icon of the present status', async () => {
  const entry = { at: '2026-11-22T13:21:05.000Z', kind: 'attempt', actor: 'system', actorName: null, resolutionCode: null, message: 'm', attempt: 1, durationMs: null, itemId: null, data: {} } as const; // prettier-ignore
  const timeline = (['queued', 'failed'] as const).map((type) => ({ ...entry, id: type, type, status: type }));
  await show(<Timeline it={aDelivery({ status: 'queued', timeline })} />);
  const strong = (await screen.findByText('Queued')).closest('li');
  expect(strong?.querySelector('.strong')?.textContent).toBe('Queued');
  expect(strong?.querySelector<SVGElement>('[data-colour]')?.dataset.colour).toBe(lookOf('queued').colour);
  expect(document.querySelectorAll('.strong')).toHaveLength(1);
});
