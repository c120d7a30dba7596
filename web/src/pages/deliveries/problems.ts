// The needs of the overview that are deliveries, one a problem.
import type { Schemas } from '@/api/client';
import { codeWord, statusWord } from '@/vocabulary/delivery';
import type { Search } from '../search';

export type Problem = { key: string; code: string | null; title: string; count: number; oldestAt: string | null };

// Needs of their own kind that stop deliveries, with the code of these.
const STOPS: Record<string, string> = {
  login_missing: 'credentials_missing',
  login_invalid: 'credentials_invalid',
  credits_out: 'insufficient_credits',
};

// The largest count first; deliveries that wait for approval last.
export function problemsOf(needs: Schemas['Need'][]): Problem[] {
  const failed = needs
    .flatMap(({ kind, code, count, oldestAt }) => {
      const stops = kind === 'failed' ? code : STOPS[kind];
      return stops && count > 0 ? [{ key: stops, code: stops, title: codeWord(stops), count, oldestAt }] : [];
    })
    .sort((a, b) => b.count - a.count);
  const review = needs
    .filter(({ kind }) => kind === 'review')
    .map(({ count, oldestAt }) => ({ key: 'review', code: null, title: statusWord('in_review'), count, oldestAt }));
  return [...failed, ...review];
}

export const searchOf = ({ code }: Problem): Search =>
  code === null ? { status: 'in_review' } : { status: 'failed', code };
