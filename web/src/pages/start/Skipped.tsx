// The orders that were skipped before their products had presets, and the button that delivers them.
import '@/i18n/en/guide';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isMissing, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { Shape } from '@/components/StatusIcon';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { deliverSkipped, ordersText, useSkipped } from '../store/products/skipped';
import styles from './start.module.css';

export function Skipped({ id }: { id: string }) {
  const { orders, credits } = useSkipped(id, 'saved');
  const [job, setJob] = useState<{ id: string; count: number } | null>(null); // that delivers them now
  const [error, setError] = useState<unknown>();
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  const read = useQuery({ ...queries.bulkJob(job?.id ?? ''), enabled: job !== null });
  const ended = job !== null && (Boolean(read.data?.finishedAt) || isMissing(read.error));
  // Orders that the job left are counted before they are shown again.
  useEffect(() => {
    if (ended) void client.invalidateQueries({ queryKey: ['stores', 'reprocessable'] }).then(() => setJob(null));
  }, [client, ended]);
  if (job) return <p role="status">{t('guide.first.onTheWay', { count: job.count })}</p>;
  if (orders.count === 0) return null;
  async function deliver() {
    if (!begin()) return;
    setError(undefined);
    try {
      setJob({ ...(await deliverSkipped(client, id)), count: orders.count });
    } catch (failure) {
      setError(failure);
    }
    end();
  }
  return (
    <>
      <div className={styles.waiting} data-short>
        <Shape icon="clock" colour="amber" size={18} />
        <div>
          <strong>{ordersText('guide.first.skipped', orders)}</strong>
          {credits === undefined ? null : <p className="muted">{t('guide.first.skippedCost', { count: credits })}</p>}
        </div>
        <Button variant="filled" size="md" aria-disabled={busy || undefined} onClick={() => void deliver()}>
          {busy ? t('action.working') : t('guide.first.deliver', { count: orders.count })}
        </Button>
      </div>
      {error ? <Alert>{sentence(error)}</Alert> : null}
    </>
  );
}
