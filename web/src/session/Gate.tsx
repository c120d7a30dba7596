// Shows the pages to a person who is signed in. Others go to the sign-in and come back; after the end of a session the sign-in opens
// over the page.
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { Toasts } from '@/components/toasts';
import { Shell } from '@/shell/Shell';
import { liveState } from '@/live/state';
import { session, useSession } from '.';
import { useStepUpAsked } from './useStepUpAsked';

const SignInAgain = lazy(() => import('./SignInAgain').then((part) => ({ default: part.SignInAgain })));
const StepUp = lazy(() => import('./StepUp').then((part) => ({ default: part.StepUp })));

// Pages that fill the window by themselves.
const BARE: ReadonlySet<string> = new Set(['/start']);
function Bare() {
  return (
    <>
      <Outlet />
      <Toasts />
    </>
  );
}

// Changes are followed on every page, once the first one is drawn.
function useFollow(account: string | null) {
  useEffect(() => {
    if (account === null) return undefined;
    let stop: (() => void) | undefined;
    let gone = false;
    import('@/live')
      .then(({ follow }) => {
        if (!gone) stop = follow(account);
      })
      .catch(() => liveState.set('away')); // pages then poll
    return () => {
      gone = true;
      stop?.();
    };
  }, [account]);
}

export function Gate() {
  const state = useSession();
  const asked = useStepUpAsked();
  const bare = useLocation({ select: ({ pathname }) => BARE.has(pathname) });
  const account = state.name === 'in' || state.name === 'ended' ? state.tokens.accountId : null;
  useFollow(state.name === 'in' ? account : null);
  useEffect(() => {
    if (state.name === 'unknown') session.restore().catch(() => session.forget());
  }, [state.name]);
  if (state.name === 'unknown') return null;
  if (state.name === 'out') return <ToSignIn />;
  return (
    <>
      {bare ? <Bare key={account} /> : <Shell key={account} />}
      <Suspense>
        {state.name === 'ended' ? <SignInAgain email={state.tokens.user.email} /> : null}
        {asked ? <StepUp /> : null}
      </Suspense>
    </>
  );
}

// Read once: the address to come back to is that of the first render, not the sign-in's.
function ToSignIn() {
  const router = useRouter();
  useEffect(() => {
    const { href } = router.state.location;
    void router.navigate({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true });
  }, [router]);
  return null;
}
