import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { session } from '.';
import { ConfirmDialog } from '@/components/Dialogs';
import { Confirmed } from '@/pages/confirmed/Confirmed';
import { SignedIn } from '@/pages/confirmed/SignedIn';
import { Join } from '@/pages/invite/Join';
import { show } from '@/testing/render';
import { SignInAgain } from './SignInAgain';
import { StepUp } from './StepUp';
import { stepUp } from './step_up';
import { useStepUpAsked } from './useStepUpAsked';

const OURS = 'https://bridge.example';
const issuers = [{ id: 'google', name: 'Google', startUrl: `${OURS}/api/auth/external/google` }];
const config = { signup: 'open', passwords: true, mail: false, sandbox: false, cloud: {}, supportUrl: null, issuers };

beforeEach(() => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  window.history.replaceState(null, '', '/deliveries?status=failed');
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function showFor(issuer: string, children: React.ReactNode, more = {}) {
  const shown = await show(children);
  act(() => {
    shown.client.setQueryData(['sign-in config'], { ...config, ...more });
    shown.client.setQueryData(['own issuer'], OURS);
    shown.client.setQueryData(['account'], { caller: { issuer, role: 'owner' } });
  });
  return shown;
}
const provider = () => screen.findByRole('link', { name: 'Continue with Google' });
const noteOf = (link: HTMLElement) => document.getElementById(link.getAttribute('aria-describedby') ?? '')?.textContent;

test('a provider confirms in a tab of its own, and the page that asked goes on', async () => {
  await showFor('https://accounts.example', <StepUp />);
  const link = (await provider()) as HTMLAnchorElement;
  expect(new URL(link.href).searchParams.get('returnTo')).toBe('/confirmed');
  expect([link.target, link.rel]).toEqual(['_blank', 'noopener']);
  expect(noteOf(link)).toBe('You confirm there in another tab. Then this page goes on by itself.');
  expect(screen.queryByLabelText('Password')).toBeNull(); // the person has none here
  const asked = stepUp.ask();
  new BroadcastChannel('presetbridge-step-up').postMessage('confirmed');
  expect(await asked).toBe(true);
});

test('Escape closes a step-up alone, and the focus goes back into the dialog below', async () => {
  const close = vi.fn();
  const refused = async () => {
    if (!(await stepUp.ask())) throw new Error('Not confirmed.');
  };
  function Asking() {
    return (
      <>
        <ConfirmDialog opened onClose={close} title="Rotate" body="" button="Rotate" onConfirm={refused} />
        {useStepUpAsked() ? <StepUp /> : null}
      </>
    );
  }
  await showFor(OURS, <Asking />);
  const user = userEvent.setup();
  const button = screen.getByRole('button', { name: 'Rotate' });
  await user.click(button);
  const password = await screen.findByLabelText('Password');
  await vi.waitFor(() => expect(document.activeElement).toBe(password));
  await user.keyboard('{Escape}');
  await vi.waitFor(() => expect(screen.queryByLabelText('Password')).toBeNull());
  await screen.findByRole('alert');
  expect(close).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(button);
});

// A token of a sign-in so many seconds before; undefined: nobody says when it was.
const tokenOf = (before: number | undefined) => {
  const iat = 1_795_000_000; // long ago by the browser's clock, which does not count
  const claims = { iat, auth_time: before === undefined ? undefined : iat - before, email: 'sám@shop.example' };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
};
const notified = () => vi.spyOn(stepUp, 'notifyOtherTabs').mockImplementation(() => undefined);

test('the tab of the confirmation takes new tokens before it notifies the others', async () => {
  const others = notified();
  vi.spyOn(session, 'token').mockResolvedValue('before');
  let answer: (token: string) => void = () => undefined;
  const asked = vi.spyOn(session, 'tokenAfter').mockReturnValue(new Promise<string>((resolve) => (answer = resolve)));
  await show(<Confirmed />);
  await screen.findByRole('heading', { name: 'Checking your sign-in' });
  await vi.waitFor(() => expect(asked).toHaveBeenCalledWith('before'));
  expect(others).not.toHaveBeenCalled();
  await act(async () => answer(tokenOf(600)));
  await screen.findByRole('heading', { name: 'It is you' });
  expect(others).toHaveBeenCalledOnce();
});

test.each([
  ['of a sign-in of more than ten minutes ago', tokenOf(601)],
  ['of a sign-in at a time that nobody states', tokenOf(undefined)],
  ['that does not come', null],
])('a token %s confirms nothing', async (_, token) => {
  const others = notified();
  vi.spyOn(session, 'token').mockResolvedValue('before');
  vi.spyOn(session, 'tokenAfter').mockResolvedValue(token);
  await show(<Confirmed />);
  await screen.findByRole('heading', { name: 'Not confirmed' });
  await vi.waitFor(() => expect(document.title).toContain('Not confirmed')); // an effect, after the page is shown
  screen.getByText(/Go back to the page that asked for it, and confirm once more\./);
  expect(screen.queryByText('It is you')).toBeNull();
  expect(others).not.toHaveBeenCalled();
});

test('a confirmation that could not be read confirms nothing yet, and is read once more', async () => {
  const others = notified();
  vi.spyOn(session, 'token').mockResolvedValue('before');
  vi.spyOn(session, 'tokenAfter').mockRejectedValueOnce(new TypeError('no network')).mockResolvedValue(tokenOf(5));
  await show(<Confirmed />);
  expect((await screen.findByRole('alert')).textContent).toContain('Your sign-in could not be loaded.');
  expect(others).not.toHaveBeenCalled();
  await userEvent.setup().click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('heading', { name: 'It is you' });
  expect(others).toHaveBeenCalledOnce();
});

test('after the end of a session people sign in over the page, or at their provider in another tab', async () => {
  const stays = 'Your session has ended. What you typed is still here.';
  await showFor('https://accounts.example', <SignInAgain email="x" />);
  const link = (await provider()) as HTMLAnchorElement;
  screen.getByText(stays);
  expect(new URL(link.href).searchParams.get('returnTo')).toBe('/signed-in');
  expect(new URL(link.href).searchParams.has('stepUp')).toBe(false);
  expect([link.target, link.rel]).toEqual(['_blank', 'noopener']);
  expect(noteOf(link)).toBe('You sign in there in another tab. Then this page goes on by itself.');
  expect(screen.queryByLabelText('Password')).toBeNull();
  cleanup();
  await showFor('https://token.example', <SignInAgain email="x" />, { issuers: [] });
  await screen.findByText(stays);
  screen.getByLabelText('Password');
  expect(screen.queryByRole('link', { name: 'Continue with Google' })).toBeNull();
});

test('the tab that came back says that the other page goes on', async () => {
  await show(<SignedIn />);
  await screen.findByRole('heading', { name: 'You are signed in' });
  screen.getByText(/The page that asked for it goes on by itself\./);
  await vi.waitFor(() => expect(document.title).toContain('You are signed in'));
});

test.each([
  ['a step-up', 'stepUp', 'Continue', <StepUp key="x" />],
  ['a sign-in over a page', 'signIn', 'Sign in', <SignInAgain key="x" email="x" />],
  ['an invited person', 'signUp', 'Join', <Join key="x" token="x" onJoining={() => undefined} />],
] as const)('%s that is locked out counts down, and then is free again', async (_, method, name, children) => {
  const { ApiError } = await import('@/api/errors');
  vi.useFakeTimers({ shouldAdvanceTime: true });
  vi.spyOn(session, method).mockRejectedValue(new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'x', [], null, 50));
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await showFor(OURS, children);
  await user.type(await screen.findByLabelText(/^Password/), 'secret words');
  for (const box of screen.queryAllByLabelText(/^E-mail/)) await user.type(box, 'sam@shop.example');
  const button = screen.getByRole<HTMLButtonElement>('button', { name });
  await user.click(button);
  expect((await screen.findByRole('alert')).textContent).toMatch(/^Too many tries\. Try again in (50|49) s\./);
  expect(button.disabled).toBe(true);
  await act(() => vi.advanceTimersByTimeAsync(30_000));
  expect(screen.getByRole('alert').textContent).toMatch(/Try again in (20|19) s\./);
  await act(() => vi.advanceTimersByTimeAsync(21_000));
  expect(screen.queryByRole('alert')).toBeNull();
  expect(button.disabled).toBe(false);
});

test('the sign-in over a page whose session has ended says whose password it asks for', async () => {
  await showFor(OURS, <SignInAgain email="sam@marlowtones.example" />);
  const dialog = await screen.findByRole('dialog', { name: 'Sign in again' });
  await vi.waitFor(() => expect(dialog.textContent).toContain('You were signed in as sam@marlowtones.example.'));
});
