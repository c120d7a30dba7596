// The typical time of deliveries, which the service knows by its class alone: between two limits.
import '@/i18n/en/home';
import type { Schemas } from '@/api/client';
import { duration } from '@/i18n/format';
import { t } from '@/i18n/text';

const S = 1000;
const UNITS = [
  [86_400 * S, 'time.d'],
  [3_600 * S, 'time.h'],
  [60 * S, 'time.min'],
] as const;

// "30–60 s", "1–2 min", "under 1 s", "over 30 d": the class of `ms`, in the unit of its lower limit.
export function classOf(ms: number, buckets: Schemas['DurationStatistics']['buckets']): string {
  const limits = buckets.flatMap(({ upToSeconds }) => (upToSeconds === null ? [] : [upToSeconds * S]));
  const from = limits.findLast((limit) => limit < ms) ?? 0;
  const upTo = limits.find((limit) => limit >= ms);
  // A median in the class without an upper limit is given as its lower one.
  if (upTo === undefined || ms === limits.at(-1)) return t('overview.over', { time: duration(limits.at(-1) ?? ms) });
  if (from === 0) return t('overview.under', { time: duration(upTo) });
  const [unit, key] = UNITS.find(([one]) => from >= one) ?? [S, 'time.s'];
  return t(key, { n: `${from / unit}–${upTo / unit}` });
}
