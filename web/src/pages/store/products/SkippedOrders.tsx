// The orders of a store that were skipped before their products had presets, and the button that delivers them.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isMissing, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { Bdi } from '@/components/Bdi';
import { Shape } from '@/components/StatusIcon';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { creditsFor, deliverSkipped, ordersOf, ordersText, skippedJob, useSkipped } from './skipped';
import styles from './SkippedOrders.module.css';

// `store`: its name, where orders of several are shown.
export function SkippedOrders({ id, store }: { id: string; store?: string }) {
  const { orders, credits } = useSkipped(id, 'saved');
  const { short, words } = creditsFor(credits, useQuery(queries.credits()).data?.available);
  const [error, setError] = useState<unknown>();
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  const job = useQuery(skippedJob(id)).data ?? null;
  const read = useQuery({ ...queries.bulkJob(job?.id ?? ''), enabled: job !== null });
  const ended = job !== null && (Boolean(read.data?.finishedAt) || isMissing(read.error));
  // Orders that the job left are counted before they are shown again.
  useEffect(() => {
    if (!ended) return;
    void client.invalidateQueries({ queryKey: ['orders'] });
    void client
      .invalidateQueries({ queryKey: ['stores', 'reprocessable'] })
      .then(() => client.setQueryData(skippedJob(id).queryKey, null));
  }, [client, ended, id]);
  if (job)
    return (
      <p className={styles.onTheWay} role="status">
        {ordersText(job.short ? 'skipped.short' : 'skipped.onTheWay', job.orders)}
      </p>
    );
  if (orders.count === 0) return null;
  async function deliver() {
    if (!begin()) return;
    setError(undefined);
    try {
      await deliverSkipped(client, id, { orders, short });
    } catch (failure) {
      setError(failure);
    }
    end();
  }
  return (
    <>
      <div className={styles.skipped}>
        <Shape icon="clock" colour="amber" size={18} />
        <div>
          <strong>
            <Bdi>{store === undefined ? ordersText('skipped.orders', orders) : ordersOf(store, orders)}</Bdi>
          </strong>
          {words ? <p className="muted">{words}</p> : null}
        </div>
        <Button
          variant={short ? 'default' : 'filled'}
          size="md"
          aria-label={store === undefined ? undefined : t('skipped.deliverOf', { count: orders.count, store })}
          aria-disabled={busy || undefined}
          onClick={() => void deliver()}
        >
          {busy ? t('action.working') : t('skipped.deliver', { count: orders.count })}
        </Button>
      </div>
      {error ? <Alert>{sentence(error)}</Alert> : null}
    </>
  );
}
