import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { clearToasts, toast, Toasts } from './toasts';

afterEach(cleanup);

test('toasts are cleared for the next person, those that stay too', async () => {
  await show(<Toasts />);
  let leave: () => void = () => undefined;
  act(() => {
    leave = toast('Retrying 12 deliveries', { stay: true });
    toast('Saved');
  });
  await screen.findByText('Retrying 12 deliveries');
  act(clearToasts);
  act(leave); // the job of a toast that is gone
  expect(screen.getByRole('status').textContent).toBe('');
});
