// Periods that lists are filtered by: "the last 7 days".
const PERIODS_H = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 } as const;
export type Period = keyof typeof PERIODS_H;
export const PERIODS = Object.keys(PERIODS_H) as Period[];
const STEP_MS = 5 * 60_000; // a period's beginning moves in steps, so that not every render asks for another list

export const beginOf = (period: Period, now: number) =>
  new Date(Math.floor(now / STEP_MS) * STEP_MS - PERIODS_H[period] * 3_600_000).toISOString();
