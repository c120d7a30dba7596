import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { Buyer } from './Buyer';
import { ConfirmDialog } from './Dialogs';
import { SecretOnce } from './SecretOnce';
import { Loaded } from './States';

afterEach(cleanup);

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
