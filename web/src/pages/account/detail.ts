// The detail of an entry of the audit log. Where the service itself wrote it, its times, spans and prices are shown as people write them;
// any other detail may be the words of a person (the name of a store), and is shown as it is.
import '@/i18n/en/account';
import '@/i18n/en/profile';
import '@/i18n/en/stores';
import '@/i18n/en/webhooks';
import type { Schemas } from '@/api/client';
import { momentWithin, spelled } from '@/i18n/format';
import { money } from '@/i18n/money';
import { isolated } from '@/i18n/outside';
import { t, type TextKey } from '@/i18n/text';
import { permissionList } from '@/vocabulary/keys';

const SINCE = /^((?:of what )?(?:failing|failed) since )(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)$/;

function overlap(detail: string): string | undefined {
  const [, seconds] = /^overlap of (\d+) s$/.exec(detail) ?? [];
  return seconds && Number(seconds) > 0
    ? t('audit.detail.overlap', { time: spelled(Number(seconds) * 1000) })
    : undefined;
}
function since(detail: string): string | undefined {
  const [, words, iso] = SINCE.exec(detail) ?? [];
  return words && iso && !Number.isNaN(Date.parse(iso)) ? words + momentWithin(iso) : undefined;
}
function bought(detail: string): string | undefined {
  const [, credits, amount, currency] = /^(\d+) credits for (\d+) ([a-z]{3})$/.exec(detail) ?? [];
  return credits && amount && currency
    ? t('audit.detail.bought', { count: Number(credits), price: money(Number(amount), currency) })
    : undefined;
}

function matches(detail: string): string | undefined {
  const [, count] = /^(\d+) mappings$/.exec(detail) ?? [];
  return count ? t('audit.detail.matches', { count: Number(count) }) : undefined;
}
const replaced = (detail: string) => (/^replaced by key_\w+$/.test(detail) ? t('audit.detail.replaced') : undefined);

const permissions = (detail: string) =>
  /^[a-z_]+(:[a-z_]+)?(,[a-z_]+(:[a-z_]+)?)*$/.test(detail) ? permissionList(detail.split(',')) : undefined;
const ended = (detail: string) =>
  detail === 'what it gave opens nothing any more' ? t('audit.detail.ended') : undefined;

function ordered(detail: string): string | undefined {
  const [, order] = /^order (.+)$/.exec(detail) ?? [];
  return order ? t('audit.detail.order', { order: isolated(order) }) : undefined;
}

// By action: reads the detail in the form in which the service writes it.
const WRITTEN: Record<string, (detail: string) => string | undefined> = {
  'integration.secret_rotated': overlap,
  'subscription.secret_rotated': overlap,
  'subscription.turned_off': since,
  'subscription.recovery_began': since,
  'purchase.opened': bought,
  'api_key.created': permissions,
  'api_key.permissions_changed': permissions,
  'api_key.rotated': replaced,
  'integration.mappings_replaced': matches,
  'session.ended': ended,
  'sessions.ended': ended,
  'sessions.others_ended': ended,
};

export const detailOf = ({ action, detail }: { action: string; detail: string }): string =>
  (Object.hasOwn(WRITTEN, action)
    ? WRITTEN[action]?.(detail)
    : action.startsWith('delivery.')
      ? ordered(detail)
      : undefined) ?? detail;

// The fields of changes, by their names in the API: each as the page that changes it calls it, and whether its values are on and off.
const FIELDS = {
  name: ['settings.name'],
  displayName: ['profile.displayName'],
  supportEmail: ['profile.supportEmail'],
  supportUrl: ['profile.supportUrl'],
  lowAt: ['audit.field.lowAt'],
  active: ['audit.field.active', true],
  role: ['audit.field.role'],
  permissions: ['audit.field.permissions'],
  owningKeyId: ['audit.field.owningKey'],
  'settings.requireApiKey': ['settings.key', true],
  'settings.hold': ['settings.hold', true],
  'settings.deliverTestOrders': ['settings.test', true],
  'settings.autoRevoke': ['settings.revoke', true],
  'settings.usernameFields': ['settings.fields'],
  url: ['newWebhook.url'],
  eventTypes: ['newWebhook.events'],
  integrationIds: ['newWebhook.stores'],
} as const satisfies Record<string, readonly [TextKey, true?]>;
const ON: Record<string, boolean> = { true: true, all: true, false: false, none: false };

function valueWord(field: string, value: string, switched: boolean | undefined): string {
  if (value === '') return t('audit.value.none');
  if (switched && Object.hasOwn(ON, value)) return t(ON[value] ? 'audit.value.on' : 'audit.value.off');
  return field === 'permissions' ? (permissions(value) ?? value) : value;
}

// The field and its two values in words.
export function wordsOf({ field, from, to }: Schemas['ChangedField']) {
  const [key, switched]: readonly [TextKey?, true?] = Object.hasOwn(FIELDS, field)
    ? FIELDS[field as keyof typeof FIELDS]
    : [];
  return {
    field: key ? (t as (key: TextKey) => string)(key) : field,
    from: valueWord(field, from, switched),
    to: valueWord(field, to, switched),
  };
}

// "Take presets back on refund: off → on".
export const changeWords = (change: Schemas['ChangedField']): string => t('audit.change', wordsOf(change));
