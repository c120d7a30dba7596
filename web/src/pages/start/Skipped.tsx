// The orders that were skipped before their products had presets, and the button that delivers them.
import '@/i18n/en/guide';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sentence } from '@/api/errors';
import { Alert } from '@/components/Alert';
import { Shape } from '@/components/StatusIcon';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { deliverSkipped, ordersText, useSkipped } from '../store/products/skipped';
import styles from './start.module.css';

export function Skipped({ id }: { id: string }) {
  const { orders, credits } = useSkipped(id, 'saved');
  // The number of orders that the last click asked to deliver. While the service still counts that many as skipped, they are on their way.
  const [onTheWay, setOnTheWay] = useState(0);
  const [error, setError] = useState<unknown>();
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  if (orders.count === 0) return null;
  if (orders.count === onTheWay) return <p role="status">{t('guide.first.onTheWay', { count: onTheWay })}</p>;
  async function deliver() {
    if (!begin()) return;
    setError(undefined);
    try {
      await deliverSkipped(client, id);
      setOnTheWay(orders.count);
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
