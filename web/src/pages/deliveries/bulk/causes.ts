// Why the chosen deliveries failed, of those whom a retry alone seldom helps: the service counts them among those that it retries.
import type { Schemas } from '@/api/client';
import type { Chosen } from './selection';

export type Row = Pick<Schemas['Delivery'], 'id' | 'status' | 'resolutionCode' | 'reviewReason' | 'itemCount'>;

const SELDOM = ['username_not_found', 'preset_not_found', 'preset_not_shareable', 'blocked_by_customer'] as const;
const DECLINED = 'friend_request_declined';
const NAMED: ReadonlySet<string> = new Set([...SELDOM, DECLINED]);

export type Seldom = { code: (typeof SELDOM)[number]; count: number };
// null: not known, as some of the chosen are not on the page.
// `tooLarge`: in review, without a file that an approval could deliver; 0 where something else is among those that no action is for.
export type Causes = { seldom: Seldom[]; declined: number; tooLarge: number } | null;

export const NO_CAUSES: Causes = { seldom: [], declined: 0, tooLarge: 0 };

export function causesOf(chosen: Chosen, rows: Row[]): Causes {
  if (chosen.kind === 'all') {
    const codes = chosen.query.resolutionCode?.split(',');
    return codes?.every((code) => !NAMED.has(code)) ? NO_CAUSES : null;
  }
  const known = rows.filter(({ id }) => chosen.ids.has(id));
  if (known.length < chosen.ids.size) return null;
  const count = (code: string) =>
    known.filter(({ status, resolutionCode }) => status === 'failed' && resolutionCode === code).length;
  const over = known.some(({ status }) => status !== 'failed' && status !== 'in_review');
  const large = known.filter(
    ({ status, reviewReason, itemCount }) => status === 'in_review' && reviewReason === 'too_large' && itemCount === 0,
  );
  return {
    seldom: SELDOM.map((code) => ({ code, count: count(code) })).filter((one) => one.count > 0),
    declined: count(DECLINED),
    tooLarge: over ? 0 : large.length,
  };
}
