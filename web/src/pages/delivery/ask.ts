// Asks something before it is done with the delivery of the page.
import { createContext, useContext } from 'react';
import type { Holder } from './holders';
import type { Delivery } from './types';

export type Question =
  | { what: 'stop' | 'reopen' | 'byHand' | 'link' }
  | { what: 'revoke'; holder: Holder }
  | { what: 'instead'; to: string }; // the username that it goes to from now on

// `was`: the delivery then.
export type Asked = { question: Question; was: Delivery };

export const Ask = createContext<((question: Question) => void) | null>(null);

export function useAsk() {
  const ask = useContext(Ask);
  if (!ask) throw new Error('There is no <Questions> around this.');
  return ask;
}
