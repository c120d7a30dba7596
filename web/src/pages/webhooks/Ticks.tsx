// The answers of a receiver, the oldest first: height and colour by the outcome of each.
import '@/i18n/en/webhooks';
import type { Schemas } from '@/api/client';
import { t } from '@/i18n/text';
import styles from './webhooks.module.css';

export const accepted = (recent: Schemas['RecentAttempt'][]) =>
  recent.filter(({ outcome }) => outcome === 'succeeded').length;

export function Ticks({ recent, width }: { recent: Schemas['RecentAttempt'][]; width: 'list' | 'page' }) {
  const shown = [...(width === 'list' ? recent.slice(0, 20) : recent)].reverse();
  if (shown.length === 0) return null;
  const good = accepted(shown);
  const step = 12;
  return (
    <svg
      className={styles.ticks}
      role="img"
      aria-label={t('answers.chart', { n: shown.length, good, bad: shown.length - good })}
      width={shown.length * step * (width === 'list' ? 0.6 : 1)}
      height={width === 'list' ? 16 : 26}
      viewBox={`0 0 ${shown.length * step} 26`}
      preserveAspectRatio="none"
    >
      {shown.map(({ statusCode, outcome }, index) => {
        const fine = outcome === 'succeeded';
        const height = fine ? 12 : 26;
        return (
          <rect
            key={index}
            data-fine={fine || undefined}
            x={index * step}
            y={26 - height}
            width={step - 3}
            height={height}
            rx={2}
          >
            <title>{statusCode ?? outcome}</title>
          </rect>
        );
      })}
    </svg>
  );
}
