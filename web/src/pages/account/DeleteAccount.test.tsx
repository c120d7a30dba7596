import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { DeleteAccount } from './DeleteAccount';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a name with steering characters is copied as it is shown, and sent as it is', async () => {
  const sent: unknown[] = [];
  serve(async (request) => {
    sent.push(await request.json());
    return Response.json({ error: { code: 'CONFLICT', message: 'Not now.' } }, { status: 409 });
  });
  await show(<DeleteAccount name={'Marlow\u202e Tone'} />);
  const user = userEvent.setup({ delay: null });
  await user.click(await screen.findByRole('button', { name: 'Delete account…' }));
  const field = await screen.findByLabelText(/^Type/);
  const button = await screen.findByRole<HTMLButtonElement>('button', { name: 'Delete account' });
  expect(button.disabled).toBe(true);
  await user.click(field);
  await user.paste(document.querySelector('label bdi')?.textContent ?? '');
  expect(button.disabled).toBe(false);
  await user.click(button);
  await waitFor(() => expect(sent).toEqual([{ name: 'Marlow\u202e Tone' }]));
});

test.each([
  [87, 2, '89 credits that are left are lost.'],
  [1, 0, '1 credit that is left is lost.'],
  [0, 0, null],
  [null, 0, 'Credits that are left are lost.'], // not read yet
])('the credits that are lost are counted: %s and %s on hold', async (available, held, says) => {
  const { client } = await show(<DeleteAccount name="Marlow" />);
  if (available !== null) act(() => void client.setQueryData(queries.credits().queryKey, { available, held } as never));
  await userEvent.setup({ delay: null }).click(await screen.findByRole('button', { name: 'Delete account…' }));
  await screen.findByText('Your buyers are erased from all orders.');
  expect(screen.queryByText(/lost\.$/)?.textContent ?? null).toBe(says);
});
