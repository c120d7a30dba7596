// The bar at the foot of a list while rows are chosen: how many, and the effect that an action would really have.
import '@/i18n/en/bulk';
import { ActionIcon, Button } from '@mantine/core';
import { IconRefresh, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { hoursMinutes } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import { BulkDialog } from './BulkDialog';
import { causesOf, type Row } from './causes';
import { meantBy, type Chosen } from './selection';
import type { BulkAction } from './wanted';
import styles from './bulk.module.css';

type Props = {
  chosen: Chosen;
  rows: Row[]; // of the page
  count: number | undefined; // of all that match; undefined: not known yet
  exact: boolean; // else more than `count` match
  pageChosen: boolean; // all rows of the page
  onAll: () => void; // chooses all that match
  onClear: () => void;
};

// Whether a retry leaves a delivery out for this reason until somebody puts something right, and an approval until it is opened.
const holdsUp = (code: string) => code !== 'INVALID_TRANSITION' && code !== 'NOT_FOUND';

export function BulkBar({ chosen, rows, count, exact, pageChosen, onAll, onClear }: Props) {
  const [asked, setAsked] = useState<BulkAction | null>(null);
  const meant = meantBy(chosen);
  const retry = useQuery({ ...queries.bulkPlan({ action: 'retry', ...meant }), placeholderData: (old) => old });
  const approve = useQuery({ ...queries.bulkPlan({ action: 'approve', ...meant }), placeholderData: (old) => old });
  const able = (plan: typeof retry) => plan.data?.eligible ?? 0;
  const held = (plan: typeof retry) =>
    plan.data?.excluded.filter(({ code }) => holdsUp(code)).reduce((sum, { count: n }) => sum + n, 0) ?? 0;
  const fixes = held(retry);
  const causes = causesOf(chosen, rows);
  const seldom = causes?.seldom.reduce((sum, { count: n }) => sum + n, 0) ?? 0;
  const single = held(approve);
  // Failed deliveries are retried, and those in review approved: no delivery is counted twice.
  const counted = able(retry) + able(approve);
  const [total, again] = [retry, approve].map(({ data }) => (data?.totalIsExact ? data.total : undefined));
  const neither = total !== undefined && total === again && counted > 0 ? total - counted - fixes - single : 0;
  useShortcuts({ Escape: onClear, r: () => able(retry) > 0 && setAsked('retry') });
  const uncounted = [retry, approve].filter(({ error, data }) => error && !data);
  const chosenCount = chosen.kind === 'some' ? chosen.ids.size : (count ?? 0);
  return (
    <section className={styles.bar} aria-label={t('bulk.bar')}>
      <ActionIcon aria-label={t('bulk.clear')} title={t('bulk.clear')} onClick={onClear}>
        <IconX size={16} />
      </ActionIcon>
      <p className={styles.words} aria-live="polite">
        <strong>
          {chosen.kind === 'some'
            ? t('bulk.selected', { count: chosenCount })
            : exact
              ? t('bulk.allSelected', { count: chosenCount })
              : t('bulk.allMany', { count: chosenCount })}
        </strong>{' '}
        {chosen.kind === 'all' ? (
          <span className="muted">{t('bulk.asOf', { time: hoursMinutes(chosen.asOf) })}</span>
        ) : null}
        {fixes > 0 ? <span className="muted">{t('bulk.fixFirst', { count: fixes })}</span> : null}
        {seldom > 0 ? <span className="muted">{t('bulk.seldom', { count: seldom })}</span> : null}
        {single > 0 ? <span className="muted">{t('bulk.single', { count: single })}</span> : null}
        {neither > 0 ? (
          <span className="muted">
            {t(causes?.tooLarge === neither ? 'bulk.tooLarge' : 'bulk.neither', { count: neither })}
          </span>
        ) : null}
        {[retry, approve].some((plan) => plan.isPending || plan.isPlaceholderData) ? (
          <span className="muted">{t('bulk.counting')}</span>
        ) : null}
      </p>
      {uncounted[0] ? (
        <Alert
          action={
            <Button size="compact-sm" onClick={() => uncounted.forEach((plan) => void plan.refetch())}>
              {t('action.again')}
            </Button>
          }
        >
          {t(
            uncounted[1]
              ? 'bulk.uncounted'
              : uncounted[0] === retry
                ? 'bulk.uncounted.retry'
                : 'bulk.uncounted.approve',
          )}{' '}
          {sentence(uncounted[0].error)}
        </Alert>
      ) : null}
      {chosen.kind === 'some' && pageChosen && count !== undefined && count > chosenCount ? (
        <Button variant="subtle" onClick={onAll}>
          {exact ? t('bulk.selectAll', { count }) : t('bulk.selectAllMany')}
        </Button>
      ) : null}
      <div className={styles.actions}>
        {able(retry) > 0 ? (
          <Button variant="filled" leftSection={<IconRefresh size={16} />} onClick={() => setAsked('retry')}>
            {t('bulk.retry', { n: able(retry) })}
          </Button>
        ) : null}
        {able(approve) > 0 ? (
          <Button variant={able(retry) > 0 ? 'default' : 'filled'} onClick={() => setAsked('approve')}>
            {t('bulk.approve', { n: able(approve) })}
          </Button>
        ) : null}
        <Button onClick={() => setAsked('invalidate')}>{t('bulk.stop')}</Button>
      </div>
      {asked ? (
        <BulkDialog action={asked} meant={meant} causes={causes} onClose={() => setAsked(null)} onAsked={onClear} />
      ) : null}
    </section>
  );
}
