// The words, icons and colours of deliveries. Each table has every value of the contract (the compiler says where one is missing);
// a value that is newer than this page is shown as it is, with the grey circle.
import type { Schemas } from '@/api/client';
import { hasText, t, type TextKey } from '@/i18n/text';

type Status = Schemas['DeliveryStatus'];
export type Code = Schemas['ResolutionCode'];
type ItemStatus = Schemas['DeliveryItem']['status'];

export type Icon = 'dashed' | 'arc' | 'clock' | 'check' | 'octagon' | 'diamond' | 'slash' | 'circle';
export type Colour = 'grey' | 'teal' | 'amber' | 'red' | 'violet';

const LOOKS = {
  queued: ['dashed', 'grey'],
  processing: ['arc', 'teal'],
  waiting_for_friendship: ['clock', 'amber'],
  completed: ['check', 'teal'],
  failed: ['octagon', 'red'],
  in_review: ['diamond', 'violet'],
  invalidated: ['slash', 'grey'],
} satisfies Record<Status, [Icon, Colour]>;

export const STATUSES = Object.keys(LOOKS) as Status[];

export const lookOf = (status: string): { icon: Icon; colour: Colour } => {
  const [icon, colour]: [Icon, Colour] = Object.hasOwn(LOOKS, status) ? LOOKS[status as Status] : ['circle', 'grey'];
  return { icon, colour };
};

// The catalogue's word for a value of the service, or the value itself.
export const word = (group: string, value: string): string => {
  const key = `${group}.${value}`;
  return hasText(key) ? (t as (key: TextKey) => string)(key) : value;
};
export const statusWord = (status: string) => word('status', status);
// A completed rehearsal has shared nothing.
export const stateWord = ({ status, dryRun }: { status: string; dryRun: boolean }) =>
  dryRun && status === 'completed' ? t('status.rehearsed') : statusWord(status);
export const codeWord = (code: string) => word('code', code);

// The first action that the panel of a failed delivery offers.
export type Fix =
  | 'username'
  | 'retry'
  | 'ask'
  | 'waitMore'
  | 'message'
  | 'cloud'
  | 'file'
  | 'fileRetry'
  | 'credits'
  | 'wait'
  | 'byHand';
export const FIXES = {
  username_missing: 'username',
  username_not_found: 'username',
  friend_request_declined: 'ask',
  friendship_timeout: 'waitMore',
  blocked_by_customer: 'message',
  credentials_missing: 'cloud',
  credentials_invalid: 'cloud',
  preset_not_found: 'file',
  preset_not_shareable: 'fileRetry',
  insufficient_credits: 'credits',
  cloud_unavailable: 'wait',
  cloud_rejected: 'retry',
  order_too_large: 'byHand',
  internal_error: 'retry',
} satisfies Record<Code, Fix>;
export const CODES = Object.keys(FIXES) as Code[];

const ITEM_LOOKS = {
  owed: ['dashed', 'grey'],
  sharing: ['arc', 'teal'],
  shared: ['check', 'teal'],
  already_shared: ['check', 'teal'],
  delivered_by_hand: ['check', 'teal'],
  dropped: ['slash', 'grey'],
  revoking: ['arc', 'teal'],
  revoked: ['slash', 'grey'],
  revoke_failed: ['octagon', 'red'],
} satisfies Record<ItemStatus, [Icon, Colour]>;
export const ITEM_STATUSES = Object.keys(ITEM_LOOKS) as ItemStatus[];

type Item = { status: string; dryRun: boolean; staysWithCustomer?: boolean };
export const itemWord = ({ status, dryRun, staysWithCustomer }: Item) =>
  staysWithCustomer ? t('item.stays') : dryRun && status === 'shared' ? t('status.would') : word('item', status);

const reasonsOfService = new Set(['order_cancelled', 'order_refunded', 'nothing_to_deliver', 'erased']);
// Why a delivery was stopped: the service's words, or the merchant's own.
export const stopReason = (reason: string | null) =>
  reason === null ? '' : reasonsOfService.has(reason) ? word('stopped', reason) : reason;
