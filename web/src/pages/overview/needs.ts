// Needs as rows, in the service's order: one row each, and one for all needs of failed deliveries.
import '@/i18n/en/home';
import type { LinkProps } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { date, day, hoursMinutes, momentWithin, pace, since, spelled } from '@/i18n/format';
import { hasText, t } from '@/i18n/text';
import { word, type Colour, type Icon } from '@/vocabulary/delivery';
import { lostLine } from '@/vocabulary/lost';
import { isOpen, type Store } from '@/vocabulary/store';
import { isLongEnough } from '../credits/forecast';
import { answerBy } from '../customers/answer_by';

export type Need = Schemas['Need'];
export type NeedRow = {
  key: string;
  icon: Icon;
  colour: Colour;
  title: string;
  text: string;
  button?: string;
  link?: LinkProps;
  owners?: boolean; // only owners can do it
  buys?: boolean; // only where credits are sold
  calm?: true; // somebody wanted it so: no trouble
  fixes?: string[]; // resolution codes of the deliveries that are fixed one after the other
};

// The time of day, "09:10"; for another day than today, with the day.
const clock = (iso: string, now: number) =>
  new Date(iso).toDateString() === new Date(now).toDateString() ? hoursMinutes(iso) : momentWithin(iso, now);

function ofFailed(needs: Need[], only: { store?: string }): NeedRow {
  const count = needs.reduce((sum, one) => sum + one.count, 0);
  const said = needs.map(({ code, count: n, detail }) => {
    const key = `need.failed.${code ?? ''}`;
    return hasText(key)
      ? t(key as 'need.failed.username_missing', { count: n })
      : t('need.failed.other', { count: n, what: detail ?? code ?? '' });
  });
  const codes = needs.flatMap(({ code }) => code ?? []);
  return {
    key: 'failed',
    icon: 'octagon',
    colour: 'red',
    title: t('need.failed', { count }),
    text: t('need.failed.text', { list: said.join(', ') }),
    button: t('need.failed.button', { count }),
    link: { to: '/deliveries', search: { status: 'failed', code: codes.join(','), ...only } },
    fixes: codes,
  };
}

const toStore = (id: string | null, tab: 'products' | 'connection', search: Record<string, string> = {}): LinkProps =>
  tab === 'products'
    ? { to: '/integrations/stores/$id/products', params: { id: id ?? '' }, search }
    : { to: '/integrations/stores/$id/connection', params: { id: id ?? '' }, search };
const to = (address: string) => ({ to: address }) as LinkProps;
const buy = () => ({ button: t('need.credits.button'), link: to('/credits'), owners: true, buys: true });

// The last refusal that the need counts, where it also counts ones that are mended; null: it counts open ones alone. undefined: all are mended.
function lastRefused({ code, integrationId }: Need, stores: Store[]) {
  const refused = stores.find(({ id }) => id === integrationId)?.intake.refused.find((one) => one.code === code);
  if (!refused) return null;
  if (!isOpen(refused)) return undefined;
  return refused.mendedUntil === null ? null : refused.lastAt;
}

function ofRefused(need: Need, stores: Store[], now: number): NeedRow[] {
  const { code, count, oldestAt, integrationId } = need;
  const last = lastRefused(need, stores);
  if (last === undefined) return [];
  const wrong = code === 'INVALID_SIGNATURE';
  const store = stores.find(({ id }) => id === integrationId);
  const cause = word('cause', code ?? '');
  return [
    {
      key: ['intake_refused', integrationId, code].join(':'),
      icon: 'octagon',
      colour: 'red',
      title: t('need.intake_refused', { store: need.detail ?? '' }),
      text: [
        last === null
          ? t('need.intake_refused.text', { count, cause, time: clock(oldestAt ?? new Date(now).toISOString(), now) })
          : t('need.intake_refused.last', { cause, when: since(last, now) }),
        store ? lostLine(store) : '',
      ]
        .join(' ')
        .trim(),
      button: t(wrong ? 'need.intake_refused.button' : 'need.intake_refused.store'),
      link: toStore(integrationId, 'connection', wrong ? { do: 'secret' } : {}),
    },
  ];
}

// `young`: too young for a forecast. The service also warns of one, which is then no need.
function ofFewCredits({ count: left, oldestAt }: Need, perDay: number, now: number, limit: number | undefined, young: boolean): NeedRow[] {
  const low = limit !== undefined && left <= limit;
  if (young && limit !== undefined && !low) return [];
  const paced = !young && perDay > 0;
  const a = { left, limit: limit ?? 0, perDay: pace(perDay) };
  return [
    {
      key: 'credits_low',
      icon: 'clock',
      colour: 'amber',
      title:
        oldestAt && !young
          ? t('need.credits_low', { time: spelled(Math.max(Date.parse(oldestAt) - now, 3_600_000)) })
          : t('need.credits_low.none'),
      text: low
        ? [t(left < limit ? 'need.credits_low.below' : 'need.credits_low.at', a), paced ? t('need.credits_low.perDay', a) : ''].join(' ').trim()
        : t(paced ? 'need.credits_low.text' : 'need.credits_low.textNone', a),
      ...buy(),
    },
  ];
} // prettier-ignore

// `begins`: the account has delivered nothing yet, so its products may be samples of tests.
function rowOf(need: Need, only: { store?: string }, now: number, begins: boolean): NeedRow {
  const { kind, count, oldestAt, integrationId, subscriptionId } = need;
  const name = (need.detail ?? '').replace(/^https?:\/\//, '');
  const at = oldestAt ?? new Date(now).toISOString();
  const red = { key: [kind, integrationId ?? subscriptionId, need.code].filter(Boolean).join(':'), icon: 'octagon', colour: 'red' } as const;
  const amber = { ...red, icon: 'clock', colour: 'amber' } as const;
  const receiver = {
    title: t('need.receiver', { name }),
    button: t('need.receiver.button'),
    link: { to: '/integrations/webhooks/$id', params: { id: subscriptionId ?? '' }, search: {} } as LinkProps,
  };
  switch (kind) {
    case 'login_missing':
      return {
        ...(count > 0 ? red : amber),
        title: t('need.login_missing'),
        text: [t('need.login_missing.text'), count > 0 ? t('need.login_missing.some', { count }) : ''].join(' ').trim(),
        button: t('need.login_missing.button'),
        link: to('/cloud'),
        owners: true,
      };
    case 'login_invalid':
      return { ...red, title: t('need.login_invalid'), text: [t('need.login_invalid.text'), count > 0 ? t('need.login_missing.some', { count }) : ''].join(' ').trim(), button: t('need.login_invalid.button'), link: to('/cloud'), owners: true };
    case 'intake_silent':
      return {
        ...amber,
        title: t('need.intake_silent', { store: name, day: day(at, now) }),
        text: t('need.intake_silent.text'),
        button: t('need.intake_silent.button'),
        link: toStore(integrationId, 'connection'),
      };
    case 'credits_out':
      return count > 0
        ? { ...red, title: t('need.credits_out', { count }), text: t('need.credits_out.text', { count }), ...buy() }
        : { ...amber, title: t('need.credits_out.none'), text: t('need.credits_out.noneText'), ...buy() };
    case 'debt':
      return { ...red, title: t('need.debt', { count }), text: t('need.debt.text'), ...buy() };
    case 'review':
      return {
        key: kind,
        icon: 'diamond',
        colour: 'violet',
        title: t('need.review', { count }),
        text: t('need.review.text', { when: since(at, now) }),
        button: t('need.review.button', { count }),
        link: { to: '/deliveries', search: { status: 'in_review', ...only } },
      };
    case 'receiver_off':
      if (need.code === 'deactivated')
        return { ...red, ...receiver, icon: 'slash', colour: 'grey', title: t('need.receiver_paused', { name }), text: t('need.receiver_paused.text'), calm: true };
      return { ...red, ...receiver, text: t(need.code === 'receiver_gone' ? 'need.receiver_off.gone' : 'need.receiver_off.text') };
    case 'receiver_failing':
      return { ...red, ...receiver, text: t('need.receiver_failing.text', { time: clock(at, now) }) };
    case 'unmapped':
    case 'stale': {
      const sample = kind === 'unmapped' && begins;
      return {
        ...amber,
        icon: 'dashed',
        title: t(`need.${kind}`, { count }),
        text: t(`need.${kind}.text`, { count, store: name }) + (sample ? ` ${t('need.unmapped.sample')}` : ''),
        button: t(`need.${kind}.button`),
        link: toStore(integrationId, 'products', kind === 'unmapped' ? { show: 'needs' } : {}),
      };
    }
    case 'privacy_request':
      return {
        ...amber,
        title: t('need.privacy_request', { count }),
        // The oldest is one that waits for an answer; the service has carried out the others.
        text: oldestAt ? t('need.privacy_request.text', { date: date(answerBy(at), now) }) : t('need.privacy_request.erased'),
        button: t(oldestAt ? 'need.privacy_request.button' : 'need.privacy_request.show'),
        link: to('/account/customers'),
      };
    case 'failed':
      return ofFailed([need], only);
    default:
      return { key: String(kind), icon: 'circle', colour: 'grey', title: String(kind), text: name };
  }
} // prettier-ignore

// The account's beginning, and at how few credits it is warned.
type Facts = { madeAt?: string; limit?: number };

// `store`: the only one whose needs are shown. `stores`: say which refusals are mended.
export function rowsOf(
  {
    needs,
    credits,
    setup,
  }: Pick<Schemas['Overview'], 'needs' | 'credits'> & Partial<Pick<Schemas['Overview'], 'setup'>>,
  store: string | undefined,
  now: number,
  stores: Store[] = [],
  account: Facts = {},
): NeedRow[] {
  const only = store ? { store } : {};
  const failed = needs.filter(({ kind }) => kind === 'failed');
  const young = !isLongEnough(account.madeAt, now);
  const begins = setup?.firstDelivery === false;
  const rows = needs.flatMap((need) => {
    switch (need.kind) {
      case 'failed':
        return need === failed[0] ? ofFailed(failed, only) : [];
      case 'intake_refused':
        return ofRefused(need, stores, now);
      case 'credits_low':
        return ofFewCredits(need, credits.perDay, now, account.limit, young);
      default:
        return rowOf(need, only, now, begins);
    }
  });
  return [...rows.filter(({ calm }) => !calm), ...rows.filter(({ calm }) => calm)];
}

// All kinds of need. A test compares them with the contract, and checks that each has its texts.
export const NEED_KINDS = Object.keys({
  login_missing: 1, login_invalid: 1, intake_refused: 1, intake_silent: 1, credits_out: 1, debt: 1, failed: 1, review: 1, receiver_off: 1,
  receiver_failing: 1, unmapped: 1, stale: 1, privacy_request: 1, credits_low: 1,
} satisfies Record<Need['kind'], 1>) as Need['kind'][]; // prettier-ignore
