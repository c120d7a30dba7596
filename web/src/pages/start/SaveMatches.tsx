// Saves the matches of the guide, and delivers the orders that skipped their products.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { deliverSkipped, ordersText, useSkipped } from '../store/products/skipped';
import styles from './start.module.css';

type Props = {
  id: string; // the store's
  version: number;
  mappings: Schemas['NewMapping'][] | null; // null: there is nothing to save
  blocked: () => boolean; // says why nothing can be saved yet
  onDone: () => void;
  children: ReactNode; // beside the buttons
};

export function SaveMatches({ id, version, mappings, blocked, onDone, children }: Props) {
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const have = useQuery(queries.credits()).data?.available;
  const { orders, credits, counting } = useSkipped(id, mappings);
  const skipped = mappings !== null && orders.count > 0;
  async function save(deliver: boolean) {
    if (mappings === null || blocked() || !begin()) return;
    setError(undefined);
    try {
      const next = await ok(
        api.PUT('/api/integrations/{integration}/mappings', {
          params: { path: { integration: id } },
          body: { mappings, version },
        }),
      );
      client.setQueryData(queries.mappings(id).queryKey, next);
      // The matches are saved, so the guide goes on, and its last step offers the orders again.
      if (deliver)
        await deliverSkipped(client, id).then(
          () => toast(ordersText('products.savedDeliver', orders)),
          (failure: unknown) => toast(t('products.notDelivered', { why: sentence(failure) }), { tone: 'bad' }),
        );
      await Promise.all([['stores'], ['overview']].map((queryKey) => client.invalidateQueries({ queryKey })));
      onDone();
    } catch (failure) {
      setError(failure);
    }
    end();
  }
  return (
    <>
      {error ? <Alert>{sentence(error)}</Alert> : null}
      {skipped && !counting ? (
        <p className="muted">
          {ordersText('products.reprocess', orders)}{' '}
          {have !== undefined && credits !== undefined ? t('products.credits', { count: credits, n: have }) : null}
        </p>
      ) : null}
      <div className={styles.line}>
        {skipped ? (
          <Button
            variant="filled"
            size="md"
            disabled={counting}
            aria-disabled={busy || undefined}
            onClick={() => void save(true)}
          >
            {counting ? t('products.counting') : ordersText('products.saveDeliver', orders)}
          </Button>
        ) : null}
        <Button
          variant={skipped ? 'default' : 'filled'}
          size="md"
          disabled={mappings === null}
          aria-disabled={busy || undefined}
          onClick={() => void save(false)}
        >
          {busy ? t('action.saving') : t('guide.mapping.save')}
        </Button>
        {children}
      </div>
    </>
  );
}
