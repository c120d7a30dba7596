// Shows the pages to a person who is signed in. Others go to the sign-in and come back; after the end of a session the sign-in opens
// over the page.
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { ErrorState } from '@/components/States';
import { Toasts } from '@/components/toasts';
import { t } from '@/i18n/text';
import { Frame } from '@/pages/sign-in/Frame';
import { Shell } from '@/shell/Shell';
import { liveState } from '@/live/state';
import { personOf, useSession } from '.';
import { signInConfig } from './config';
import { useRestore } from './useRestore';
import { useStepUpAsked } from './useStepUpAsked';

const SignInAgain = lazy(() => import('./SignInAgain').then((part) => ({ default: part.SignInAgain })));
const StepUp = lazy(() => import('./StepUp').then((part) => ({ default: part.StepUp })));

// Pages that fill the window by themselves.
const BARE: ReadonlySet<string> = new Set(['/start', '/confirmed', '/signed-in']);
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

// `children`: shown instead of the page of the address, which has none.
export function Gate({ children }: { children?: ReactNode }) {
  const state = useSession();
  const asked = useStepUpAsked();
  const bare = useLocation({ select: ({ pathname }) => BARE.has(pathname) });
  const account = state.name === 'in' || state.name === 'ended' ? state.tokens.accountId : null;
  useFollow(state.name === 'in' ? account : null);
  const { error, again } = useRestore();
  // Texts have the cloud platform's name, which comes with the settings; where they do not come, it has none of its own.
  const naming = useQuery({ ...signInConfig(), retry: false }).isPending;
  if (state.name === 'unknown') return error ? <Away error={error} onRetry={again} /> : null;
  if (state.name === 'out') return <ToSignIn />;
  if (naming) return null;
  const person = personOf(state);
  return (
    <>
      {bare ? <Bare key={person} /> : <Shell key={person}>{children}</Shell>}
      <Suspense>
        {state.name === 'ended' ? <SignInAgain email={state.tokens.user.email} /> : null}
        {asked ? <StepUp /> : null}
      </Suspense>
    </>
  );
}

function Away({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <Frame title={t('session.away.title')} lead="" page={t('session.away.title')}>
      <ErrorState what={t('session.away.what')} error={error} onRetry={onRetry} />
    </Frame>
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
