// Asks something before it is done with the delivery of the page.
import { createContext, useContext } from 'react';

export type Question = { what: 'stop' | 'reopen' | 'byHand' | 'revoke' | 'link' } | { what: 'instead'; to: string }; // the username that it goes to from now on

export const Ask = createContext<((question: Question) => void) | null>(null);

export function useAsk() {
  const ask = useContext(Ask);
  if (!ask) throw new Error('There is no <Questions> around this.');
  return ask;
}
