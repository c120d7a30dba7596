import { useLocation, useNavigate } from '@tanstack/react-router';
import { act, cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useEffect, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { stepUp } from '@/session/step_up';
import { show } from '@/testing/render';
import { Buyer } from './Buyer';
import { CopyIcon } from './Copy';
import { ConfirmDialog } from './Dialogs';
import { SecretOnce } from './SecretOnce';
import { Loaded } from './States';
import { Toasts } from './toasts';
import { useUnsaved } from './unsaved';

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('a username is text, and what cannot be seen in it is shown', async () => {
  await show(<Buyer username={'<img src=x>\u202egnp \u200b'} />);
  expect(document.querySelector('img')).toBeNull();
  expect(document.body.textContent).toBe('@<img src=x>U+202Egnp U+200B');
  cleanup();
  await show(<Buyer username={null} />);
  expect(document.body.textContent).toBe('No username');
});

test('a secret is shown once: its dialog closes by the word that it is kept, and it stands in no attribute', async () => {
  const done = vi.fn();
  const user = userEvent.setup();
  await show(<SecretOnce secret="pdb_live_secret" title="Copy it" env="KEY" onDone={done} />);
  await screen.findByText('pdb_live_secret');
  const attributes = [...document.querySelectorAll('*')].flatMap((element) =>
    [...element.attributes].map(({ value }) => value),
  );
  expect(attributes.some((value) => value.includes('pdb_live_secret'))).toBe(false);
  await user.keyboard('{Escape}');
  const button = screen.getByRole('button', { name: 'Done' });
  expect((button as HTMLButtonElement).disabled).toBe(true);
  await user.click(screen.getByLabelText('I have stored it in a safe place'));
  await user.click(button);
  expect(done).toHaveBeenCalledOnce();
});

test('a question that fails stays open and says why', async () => {
  const close = vi.fn();
  const user = userEvent.setup();
  await show(
    <ConfirmDialog
      opened
      onClose={close}
      title="Stop?"
      body="Really"
      button="Stop"
      onConfirm={() => Promise.reject(new Error('boom'))}
    />,
  );
  await user.click(await screen.findByRole('button', { name: 'Stop' }));
  expect((await screen.findByRole('alert')).textContent).toBe('Something went wrong on our side.');
  expect(close).not.toHaveBeenCalled();
});

test('a question that waits for a confirmation of the person says of no work', async () => {
  const user = userEvent.setup();
  let answer: Promise<unknown> = Promise.resolve();
  const confirm = () => (answer = stepUp.ask());
  await show(<ConfirmDialog opened onClose={vi.fn()} title="Stop?" body="Really" button="Stop" onConfirm={confirm} />);
  await user.click(await screen.findByRole('button', { name: 'Stop' }));
  expect(stepUp.isAsking()).toBe(true);
  expect(screen.queryByText('Working…')).toBeNull();
  act(() => stepUp.answer(false));
  await act(() => answer);
});

test('a page of one thing has its heading also while that is loaded, and where it cannot be', async () => {
  const read = { data: undefined, error: null, dataUpdatedAt: 0, refetch: vi.fn() };
  for (const error of [null, new Error('away')]) {
    await show(
      <Loaded read={{ ...read, error }} what="The delivery" page>
        {() => null}
      </Loaded>,
    );
    expect(screen.getByRole('heading', { level: 1, name: 'The delivery' })).toBeDefined();
    cleanup();
  }
});

test('after the end of a session a part does not say that the bridge is away', async () => {
  const read = { data: 'old', dataUpdatedAt: 0, refetch: vi.fn() };
  for (const [status, code, bars] of [
    [401, 'UNAUTHORIZED', 0],
    [503, 'OVERLOADED', 1],
  ] as const) {
    const error = new ApiError(status, code, '');
    await show(
      <Loaded read={{ ...read, error }} what="The usage">
        {(text) => text}
      </Loaded>,
    );
    screen.getByText('old');
    expect(screen.queryAllByText(/The bridge does not answer/)).toHaveLength(bars);
    cleanup();
  }
});

test('a part that was asked for too often counts down, and then can be asked for again', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const error = new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'x', [], null, 90);
  const read = { data: undefined, error, dataUpdatedAt: 0, refetch: vi.fn() };
  await show(
    <Loaded read={read} what="The usage">
      {() => null}
    </Loaded>,
  );
  const again = screen.getByRole<HTMLButtonElement>('button', { name: 'Try again' });
  expect(screen.getByRole('timer').textContent).toMatch(/^Too many requests\. Try again in 1 min (30|29) s\.$/);
  expect(again.getAttribute('aria-disabled')).toBe('true');
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(screen.getByRole('timer').textContent).toMatch(/Try again in (30|29|28) s\.$/);
  await act(() => vi.advanceTimersByTimeAsync(30_000));
  screen.getByText('There were too many requests. You can try again now.');
  expect(again.getAttribute('aria-disabled')).toBe(null);
});

test('a page with a secret on it is left only after a question', async () => {
  const user = userEvent.setup();
  let go: (path: string) => void = () => undefined;
  let at = '';
  const Page = () => {
    const navigate = useNavigate();
    const path = useLocation({ select: ({ pathname }) => pathname });
    const [secret, setSecret] = useState<string | null>('pdb_live_secret');
    useEffect(() => {
      go = (to) => void navigate({ to });
      at = path;
    }, [navigate, path]);
    return (
      <SecretOnce
        secret={secret}
        title="Copy it"
        onDone={() => {
          setSecret(null);
          go('/done');
        }}
      />
    );
  };
  await show(<Page />);
  await screen.findByText('pdb_live_secret');
  act(() => go('/elsewhere'));
  await screen.findByText('The secret will not be shown again. Leave anyway?');
  await user.click(screen.getByRole('button', { name: 'Stay' }));
  expect(at).toBe('/');
  expect(screen.getByText('pdb_live_secret')).toBeDefined();
  // Done leads to the next page without a question.
  await user.click(screen.getByLabelText('I have stored it in a safe place'));
  await user.click(screen.getByRole('button', { name: 'Done' }));
  await waitFor(() => expect(at).toBe('/done'));
});

test('the way that keeps what was typed is the main one of the question before a page is left', async () => {
  const Page = () => {
    const navigate = useNavigate();
    return (
      <>
        <button onClick={() => void navigate({ to: '/keys' })}>Go</button>
        {useUnsaved(true)}
      </>
    );
  };
  await show(<Page />);
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Go' }));
  const stay = await screen.findByRole('button', { name: 'Stay' });
  expect(stay.dataset.variant).toBe('filled');
  const leave = screen.getByRole('button', { name: 'Leave without saving' });
  expect(leave.dataset.variant).toBe('default');
});

const click = (element: Element | null) => element && act(() => void fireEvent.click(element));
test('a dialog whose field was changed is closed by its buttons alone', async () => {
  const close = vi.fn();
  const user = userEvent.setup();
  await show(
    <ConfirmDialog opened onClose={close} title="Stop?" body="Really" button="Stop" onConfirm={() => Promise.resolve()}>
      <input aria-label="Reason" />
    </ConfirmDialog>,
  );
  const beside = () => document.querySelector('.mantine-Modal-overlay');
  await screen.findByLabelText('Reason');
  await user.keyboard('{Escape}');
  click(beside());
  expect(close).toHaveBeenCalledTimes(2);
  await user.type(screen.getByLabelText('Reason'), 'x');
  await user.keyboard('{Escape}');
  click(beside());
  expect(close).toHaveBeenCalledTimes(2);
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(close).toHaveBeenCalledTimes(3);
});

test('an action that fails after its dialog was closed says so in a toast', async () => {
  const user = userEvent.setup();
  let fail: (error: Error) => void = () => undefined;
  const Page = () => {
    const [opened, setOpened] = useState(true);
    return (
      <>
        <ConfirmDialog
          opened={opened}
          onClose={() => setOpened(false)}
          title="Stop?"
          body="Really"
          button="Stop"
          onConfirm={() => new Promise((_, reject) => (fail = reject))}
        />
        <Toasts />
      </>
    );
  };
  await show(<Page />);
  await user.click(await screen.findByRole('button', { name: 'Stop' }));
  await user.keyboard('{Escape}');
  await act(async () => fail(new Error('boom')));
  await screen.findByText('“Stop” failed. Something went wrong on our side.');
});

test('what the clipboard refuses is selected', async () => {
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('denied'));
  await show(
    <>
      <CopyIcon text="req_0a1b2c" what="it" />
      <Toasts />
    </>,
  );
  click(await screen.findByRole('button', { name: 'Copy it' }));
  await screen.findByText(/^The clipboard refused/);
  expect(getSelection()?.toString()).toBe('req_0a1b2c');
});
