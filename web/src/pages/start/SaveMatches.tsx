// Saves the matches of the guide, and delivers the orders that skipped their products.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import {
  creditsFor,
  deliverSkipped,
  ordersText,
  reprocessWords,
  savedText,
  useMoreSkipped,
} from '../store/products/skipped';
import { useSaveMatches } from '../store/products/useSaveMatches';
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
  const { save, busy, error } = useSaveMatches(id);
  const client = useQueryClient();
  const have = useQuery(queries.credits()).data?.available;
  const { orders, before, credits, counting } = useMoreSkipped(id, mappings);
  const { short, words } = creditsFor(credits, have);
  const skipped = orders.count > 0;
  const act = (deliver: boolean) => () => {
    if (mappings === null || blocked()) return;
    void save(
      () => ({ mappings, version }),
      async () => {
        // The matches are saved, so the guide goes on, and its last step offers the orders again.
        if (deliver)
          await deliverSkipped(client, id, { orders, short }).then(
            () => toast(savedText({ orders, short })),
            (failure: unknown) => toast(t('products.notDelivered', { why: sentence(failure) }), { tone: 'bad' }),
          );
        await Promise.all(
          [['stores'], ['orders'], ['overview']].map((queryKey) => client.invalidateQueries({ queryKey })),
        );
        onDone();
      },
    );
  };
  const alone = (
    <Button
      key="alone"
      variant={skipped && !short ? 'default' : 'filled'}
      size="md"
      disabled={mappings === null}
      aria-disabled={busy || undefined}
      onClick={act(false)}
    >
      {busy ? t('action.saving') : t('guide.mapping.save')}
    </Button>
  );
  const withOrders = skipped ? (
    <Button
      key="orders"
      variant={short ? 'default' : 'filled'}
      size="md"
      disabled={counting}
      aria-disabled={busy || undefined}
      onClick={act(true)}
    >
      {counting ? t('products.counting') : ordersText('products.saveDeliver', orders)}
    </Button>
  ) : null;
  return (
    <>
      {error ? <Alert>{sentence(error)}</Alert> : null}
      {skipped && !counting ? <p className="muted">{reprocessWords(orders, before, words)}</p> : null}
      <div className={styles.line}>
        {short ? [alone, withOrders] : [withOrders, alone]}
        {children}
      </div>
    </>
  );
}
