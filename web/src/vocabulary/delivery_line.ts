// The muted words after a delivery's status, in lists.
import type { Schemas } from '@/api/client';
import { hoursMinutes, lasted, since } from '@/i18n/format';
import { t } from '@/i18n/text';
import { codeWord, stopReason, word } from './delivery';

// The service's sentence about a delivery that a person has marked.
export const BY_HAND = 'The merchant marked the order as delivered by hand.';

// The next attempt of a queued delivery, or its place in line with the time of its turn.
export function queueLine(it: Schemas['Delivery'], now = Date.now()): string {
  const after = (at: string | null, from: number): at is string => at !== null && Date.parse(at) > from;
  if (after(it.nextAttemptAt, now)) return t('line.again', { time: hoursMinutes(it.nextAttemptAt) });
  const n = it.queuePosition ?? 0;
  if (n < 1) return '';
  if (n > 1000) return t('line.inLineMany');
  return after(it.estimatedAt, now + 60_000)
    ? t('line.inLineAt', { time: hoursMinutes(it.estimatedAt), n })
    : t('line.inLine', { n });
}

export function lineOf(it: Schemas['Delivery'], now = Date.now()): string {
  if (it.pendingAction) return word('line.pending', it.pendingAction);
  switch (it.status) {
    case 'queued':
      return queueLine(it, now);
    case 'processing':
      return it.itemCount > 0
        ? t('line.sharing', { n: Math.min(it.sharedCount + 1, it.itemCount), total: it.itemCount })
        : '';
    case 'waiting_for_friendship':
      return it.requestedAt ? t('line.asked', { when: since(it.requestedAt, now) }) : '';
    case 'completed':
      if (it.message === BY_HAND) return t('line.byHand');
      if (it.dryRun) return t('line.rehearsed');
      return it.completedAt
        ? t('line.in', { time: lasted(Date.parse(it.completedAt) - Date.parse(it.createdAt)) })
        : '';
    case 'failed':
      return it.resolutionCode ? codeWord(it.resolutionCode) : '';
    case 'in_review':
      return it.reviewReason ? word('review', it.reviewReason) : '';
    case 'invalidated':
      return stopReason(it.reason);
    default:
      return '';
  }
}
