import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { aDelivery } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
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
