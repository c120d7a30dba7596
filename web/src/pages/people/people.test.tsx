import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { NewInvitation } from './NewInvitation';
import { PersonActions } from './PersonActions';

const person = {
  id: 'usr_2',
  email: '<img src=x>@shop.example',
  role: 'member',
  issuer: 'https://bridge.example',
  joinedAt: '2026-11-23T10:00:00.000Z',
  current: false,
} as const;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = async (name: RegExp) => {
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name }));
  return (await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent);
};

test('an owner changes and removes others, and leaves', async () => {
  await show(<PersonActions it={person} owner />);
  expect(await open(/^Actions of <img/)).toEqual(['Make owner…', 'Remove…']);
  cleanup();
  await show(<PersonActions it={{ ...person, role: 'owner', current: true }} owner />);
  expect(await open(/^Actions of/)).toEqual(['Make member…', 'Leave the account…']);
});

test('a member can leave and no more', async () => {
  await show(<PersonActions it={{ ...person, current: true }} owner={false} />);
  expect(await open(/^Actions of/)).toEqual(['Leave the account…']);
});

test('an invitation is of a member for the usual time, unless somebody says otherwise', async () => {
  const sent: unknown[] = [];
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request === 'string') {
      const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
      return Response.json({ ...tokens, accountId: 'acc_1' });
    }
    sent.push(await request.json());
    return Response.json({ url: 'https://bridge.example/invite#secret' }, { status: 201 });
  });
  const made = vi.fn();
  const user = userEvent.setup();
  await show(<NewInvitation onClose={() => undefined} onMade={made} />);
  await user.click(await screen.findByRole('button', { name: 'Make the link' }));
  await vi.waitFor(() => expect(made).toHaveBeenCalledOnce());
  cleanup();
  await show(<NewInvitation onClose={() => undefined} onMade={made} />);
  await user.click(await screen.findByRole('radio', { name: /^Owner/ }));
  await user.type(screen.getByRole('textbox', { name: 'For whom' }), ' Kim ');
  await user.click(screen.getByRole('button', { name: 'Make the link' }));
  await vi.waitFor(() => expect(made).toHaveBeenCalledTimes(2));
  expect(sent).toEqual([
    { role: 'member', note: null },
    { role: 'owner', note: 'Kim' },
  ]);
});
