// The state of a receiver that people read. The list, the navigation's count and the page of one all follow this rule, which is the
// one of the overview's "Needs you" (services/figures/overview.cpp).
import type { Schemas } from '@/api/client';

type Seen = Pick<Schemas['Subscription'], 'health' | 'failingSince'>;
// `resumed`: it failed, then it was turned on again or got another address, and nothing was sent since.
// `failing_lately`: not yet for the hour after which it needs somebody.
export type ReceiverState = Schemas['SubscriptionHealth'] | 'resumed' | 'failing_lately';

const HOUR = 3_600_000;
export function stateOf({ health, failingSince }: Seen, now: number): ReceiverState {
  if (health !== 'failing') return health;
  if (failingSince === null) return 'resumed';
  return Date.parse(failingSince) <= now - HOUR ? health : 'failing_lately';
}
export const needsYou = (it: Seen, now: number) => /^(failing|off|gone)$/.test(stateOf(it, now));
