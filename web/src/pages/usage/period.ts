// The period that the address names: the query for the service, and the titles of the bars.
import type { Bar } from '@/components/Bars';
import { hourOf } from '@/i18n/format';
import { t } from '@/i18n/text';
import type { Search } from '../search';

const HOUR = 3_600_000;
const PERIODS = {
  '24h': { hours: 24, bucket: 'hour' },
  '7d': { hours: 7 * 24, bucket: 'day' },
  '30d': { hours: 30 * 24, bucket: 'day' },
  '90d': { hours: 90 * 24, bucket: 'day' },
} as const;
export type Period = keyof typeof PERIODS;
export const PERIOD_NAMES = Object.keys(PERIODS) as Period[];

export const periodOf = ({ period }: Search): Period => PERIOD_NAMES.find((one) => one === period) ?? '30d';
export const bucketOf = (period: Period) => PERIODS[period].bucket;
export const daysOf = (period: Period) => PERIODS[period].hours / 24;

// The last bar is the present hour or day.
export function queryOf(period: Period, now: number) {
  const { hours, bucket } = PERIODS[period];
  const before = bucket === 'hour' ? hours - 1 : hours - 24;
  return {
    from: new Date(Math.floor(now / HOUR) * HOUR - before * HOUR).toISOString(),
    bucket,
    tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

const short = {
  hour: new Intl.DateTimeFormat(undefined, { hour: hourOf(), minute: '2-digit' }),
  day: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }),
};
const long = {
  hour: new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' }),
  day: new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
};

const nameAt = (at: string, period: Period) => short[bucketOf(period)].format(new Date(at));
export function titleAt(at: string, period: Period): string {
  const bucket = bucketOf(period);
  const day = long[bucket].format(new Date(at));
  return bucket === 'hour' ? `${day}, ${short.hour.format(new Date(at))}` : day;
}

export const barsOf = <At extends { at: string }>(data: At[], period: Period, values: (at: At) => number[]): Bar[] =>
  data.map((one, index) => ({
    key: one.at,
    label: bucketOf(period) === 'day' && index === data.length - 1 ? t('time.today') : nameAt(one.at, period),
    title: titleAt(one.at, period),
    values: values(one),
  }));
