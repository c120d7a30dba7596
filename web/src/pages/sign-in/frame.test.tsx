import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { session } from '@/session';
import { owed } from '@/session/owed';
import { show } from '@/testing/render';
import { Frame } from './Frame';
import { Issuers } from './Issuers';
import { SignIn } from './SignIn';
import { SignUp } from './SignUp';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  getRouteApi: () => ({ useSearch: () => ({}) }),
}));
let answer: () => Response;
beforeEach(() => vi.stubGlobal('fetch', async () => answer()));
afterEach(() => {
  cleanup();
  owed.set(false);
  vi.unstubAllGlobals();
});

const config = {
  signup: 'open', passwords: true, mail: false, sandbox: true, supportUrl: null,
  cloud: { name: 'x', friendRequestsUrl: null, appUrl: null },
  issuers: [{ id: 'google', name: 'Google', startUrl: 'https://bridge.example/google' }],
} as const; // prettier-ignore

test('the pages before the sign-in have the bar of a sandbox', async () => {
  const { client } = await show(<Frame title="Welcome" lead="" page="Sign in" children={null} />);
  await screen.findByRole('heading', { name: 'Welcome' });
  expect(screen.queryByRole('region', { name: 'Sandbox' })).toBeNull();
  act(() => void client.setQueryData(['sign-in config'], config));
  expect((await screen.findByRole('region', { name: 'Sandbox' })).textContent).toMatch(/^Sandbox\. Nothing here/);
});

test('a sign-out that the service did not do is told, and can be sent again; nobody goes to a provider before', async () => {
  answer = () => Response.json({ error: { code: 'OVERLOADED', message: 'x' } }, { status: 503 });
  await session.signOut();
  await show(
    <Frame title="Welcome" lead="" page="Sign in">
      <Issuers config={{ ...config, issuers: [...config.issuers] }} to="/" />
    </Frame>,
  );
  expect((await screen.findByRole('alert')).textContent).toContain(
    'The bridge did not answer. You may still be signed in in this browser.',
  );
  expect(localStorage.length).toBe(1);
  expect(localStorage.getItem(localStorage.key(0)!)).toBe('');
  expect(screen.queryByRole('link', { name: 'Continue with Google' })).toBeNull();
  answer = () => new Response(null, { status: 204 });
  await userEvent.setup().click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('link', { name: 'Continue with Google' });
  expect(screen.queryByRole('alert')).toBeNull();
  expect(localStorage.length).toBe(0);
});

test('who signs up reads in a sentence what the bridge does', async () => {
  await show(<SignUp />);
  await screen.findByRole('heading', { name: 'Create your account' });
  screen.getByText('For each paid order of your shop, the bridge shares the presets with the buyer by itself.');
});

test('who signed out everywhere reads so at the sign-in', async () => {
  answer = () => new Response(null, { status: 204 });
  await session.signOut({ everywhere: true });
  await show(<SignIn />);
  await screen.findByText('All your sessions were signed out, on every device. Sign in again to go on.');
  await act(() => session.signOut());
  await screen.findByText('Sign in to your presets, deliveries and stores.');
});
