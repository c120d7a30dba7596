// Why a sign-in failed, and for how long after too many attempts. Screen readers announce the countdown once, not every second.
import type { ReactNode } from 'react';
import { Alert } from '@/components/Alert';
import { lockedSentence, signInSentence } from './words';

type Props = { error: unknown; left: number; words?: (error: unknown) => string; action?: ReactNode };

export function SignInAlert({ error, left, words = signInSentence, action }: Props) {
  if (!error) return null;
  return (
    <Alert action={action}>{left > 0 ? <span role="timer">{lockedSentence(error, left)}</span> : words(error)}</Alert>
  );
}
