// The detail of an entry of the audit log. Where the service itself wrote it, its times, spans and prices are shown as people write them;
// any other detail may be the words of a person (the name of a store), and is shown as it is.
import '@/i18n/en/profile';
import { momentWithin, spelled } from '@/i18n/format';
import { money } from '@/i18n/money';
import { t } from '@/i18n/text';

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

// By action: reads the detail in the form in which the service writes it.
const WRITTEN: Record<string, (detail: string) => string | undefined> = {
  'integration.secret_rotated': overlap,
  'subscription.secret_rotated': overlap,
  'subscription.turned_off': since,
  'subscription.recovery_began': since,
  'purchase.opened': bought,
};

export const detailOf = ({ action, detail }: { action: string; detail: string }): string =>
  (Object.hasOwn(WRITTEN, action) ? WRITTEN[action]?.(detail) : undefined) ?? detail;
