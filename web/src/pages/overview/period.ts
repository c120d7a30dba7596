// The period of the overview's chart, as the address has it.
import type { StatisticsQuery } from '@/api/queries';
import type { Search } from '../search';

export const PERIODS = ['today', '7d', '30d', '90d'] as const;
export type Period = (typeof PERIODS)[number];
const DAYS: Record<Period, number> = { today: 1, '7d': 7, '30d': 30, '90d': 90 };

export const periodOf = ({ period }: Search): Period => PERIODS.find((one) => one === period) ?? '30d';
export const daysOf = (period: Period) => DAYS[period];

// From the viewer's midnight on, so that it stays the same for a day.
export function queryOf(period: Period, store: string | undefined, now: number): StatisticsQuery {
  const from = new Date(now);
  from.setHours(0, 0, 0, 0);
  from.setDate(from.getDate() - DAYS[period] + 1);
  return {
    from: from.toISOString(),
    bucket: period === 'today' ? 'hour' : 'day',
    ...(store ? { integrationId: store } : {}),
  };
}
