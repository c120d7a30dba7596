// The filters of the audit log, as the address has them.
import type { Search } from '../search';
import { beginOf, PERIODS } from '../period';

// Each is an action, or with a dot at the end all actions that begin so.
export const KINDS = [
  'session.',
  'sign_in.failed',
  'person.',
  'invitation.',
  'api_key.',
  'credentials.',
  'integration.',
  'subscription.',
  'delivery.',
  'deliveries.',
  'customers.',
  'privacy_request.',
  'purchase.',
  'credits.',
  'password.',
  'account.',
] as const;

// Values that the service would refuse are left out.
const fits = (value: string | undefined, most: number) => (value && value.length <= most ? value : undefined);

export const filtersOf = (search: Search) => ({
  actor: fits(search.actor, 40),
  action: fits(search.action, 60),
  target: fits(search.target, 60),
  period: PERIODS.find((one) => one === search.when),
});

export function auditQuery(search: Search, now: number) {
  const { actor, action, target, period } = filtersOf(search);
  return {
    ...(actor ? { actor } : {}),
    ...(action ? { action } : {}),
    ...(target ? { target } : {}),
    ...(period ? { from: beginOf(period, now) } : {}),
  };
}
