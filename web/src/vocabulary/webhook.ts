// The state of outbound webhooks, their events and answers.
import type { Schemas } from '@/api/client';
import type { Colour, Icon } from './delivery';
import type { ReceiverState } from './health';

export type Subscription = Schemas['Subscription'];
type Health = Schemas['SubscriptionHealth'];
type EventStatus = Schemas['WebhookEventStatus'];
export type EventType = Schemas['EventType'];

const HEALTH_LOOKS = {
  unused: ['dashed', 'grey'],
  healthy: ['check', 'teal'],
  failing: ['octagon', 'red'],
  off: ['octagon', 'red'],
  gone: ['octagon', 'red'],
  deactivated: ['slash', 'grey'],
} satisfies Record<Health, [Icon, Colour]>;
export const HEALTHS = Object.keys(HEALTH_LOOKS) as Health[];
export const STATE_LOOKS = {
  ...HEALTH_LOOKS,
  resumed: ['dashed', 'grey'],
  failing_lately: ['octagon', 'amber'],
} satisfies Record<ReceiverState, [Icon, Colour]>;

const EVENT_LOOKS = {
  succeeded: ['check', 'teal'],
  waiting: ['dashed', 'grey'],
  exhausted: ['slash', 'grey'],
  permanent: ['slash', 'grey'],
} satisfies Record<EventStatus, [Icon, Colour]>;
export const EVENT_STATUSES = Object.keys(EVENT_LOOKS) as EventStatus[];

export const EVENT_TYPES = Object.keys({
  'delivery.queued': 1,
  'delivery.waiting_for_friendship': 1,
  'delivery.completed': 1,
  'delivery.failed': 1,
  'delivery.invalidated': 1,
  'delivery.reopened': 1,
  'order.unmapped': 1,
  'credits.low': 1,
  'subscription.failing': 1,
} satisfies Record<EventType, 1>) as EventType[];

// An event that waits after a failed attempt has the icon of a failure, whatever its later attempts bring.
export function lookOfEvent({
  status,
  attemptCount,
  lastOutcome,
}: Pick<Schemas['WebhookEvent'], 'status' | 'attemptCount' | 'lastOutcome'>): {
  icon: Icon;
  colour: Colour;
} {
  if (status === 'waiting' && attemptCount > 0 && lastOutcome !== null && lastOutcome !== 'succeeded')
    return { icon: 'octagon', colour: 'red' };
  const [icon, colour]: [Icon, Colour] = (EVENT_LOOKS as Record<string, [Icon, Colour]>)[status] ?? ['circle', 'grey'];
  return { icon, colour };
}

// "hooks.marlowtones.com/presets": a receiver as people know it.
export function nameOf({ name, url }: Pick<Subscription, 'name' | 'url'>): string {
  if (name) return name;
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    return url;
  }
}

const REASONS: Record<number, string> = {
  400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 408: 'Request Timeout',
  410: 'Gone', 413: 'Content Too Large', 415: 'Unsupported Media Type', 422: 'Unprocessable Content', 429: 'Too Many Requests',
  500: 'Internal Server Error', 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout',
}; // prettier-ignore
export const answerName = (code: number) => (REASONS[code] ? `${code} ${REASONS[code]}` : String(code));
