import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { clearToasts, Toasts } from '@/components/toasts';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { CloudStep } from './CloudStep';

afterEach(() => {
  cleanup();
  act(clearToasts);
  vi.unstubAllGlobals();
});

test('no toast covers the next step once the login is saved', async () => {
  serve(({ method }) =>
    Response.json(
      method === 'PUT'
        ? { status: 'valid', cloudUsername: 'marlow', mappingsMadeStale: 0 }
        : { data: [], nextCursor: null },
    ),
  );
  const done = vi.fn();
  await show(
    <>
      <CloudStep onDone={done} />
      <Toasts />
    </>,
  );
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText(/^E-mail at/), 'me@shop.example');
  await user.type(screen.getByLabelText(/^Password at/, { selector: 'input' }), 'secret words');
  await user.click(screen.getByRole('button', { name: 'Connect cloud account' }));
  await waitFor(() => expect(done).toHaveBeenCalledOnce());
  expect(screen.getByRole('status').textContent).toBe('');
});
