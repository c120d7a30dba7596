import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { show } from '@/testing/render';
import { clearToasts, Toasts } from './toasts';
import { useAct } from './useAct';

afterEach(() => {
  cleanup();
  act(clearToasts);
});

test('a button acts once at a time, and its failure is a toast', async () => {
  const calls: ((error?: Error) => void)[] = [];
  const work = () => new Promise<void>((done, fail) => calls.push((error) => (error ? fail(error) : done())));
  const Page = () => {
    const { busy, button } = useAct(work);
    return <button {...button}>{busy ? 'Sending' : 'Send'}</button>;
  };
  await show(
    <>
      <Page />
      <Toasts />
    </>,
  );
  const user = userEvent.setup();
  const send = await screen.findByRole('button', { name: 'Send' });
  await user.dblClick(send);
  expect(calls).toHaveLength(1);
  expect([send.textContent, send.getAttribute('aria-disabled')]).toEqual(['Sending', 'true']);
  await act(async () => calls[0]?.(new ApiError(409, 'CONFLICT', 'It changed meanwhile.')));
  await screen.findByText('It changed meanwhile.');
  expect([send.textContent, send.getAttribute('aria-disabled')]).toEqual(['Send', null]);
  await user.click(send);
  expect(calls).toHaveLength(2);
});
