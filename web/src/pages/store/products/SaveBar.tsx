// Saves the changes, and delivers the orders that skipped their products: how many they are, and what they cost.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { ApiError, sentence } from '@/api/errors';
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
  type Begun,
} from './skipped';
import { Bar, BarButtons, toastSaved, useDeliverAfterSave } from './useDeliverAfterSave';
import { useSaveMatches } from './useSaveMatches';

type Edited = {
  id: string;
  version: number;
  mappings: Schemas['NewMapping'][];
  changes: number;
  onBegin: () => void; // a save, or that the changes are given up
  onDone: () => void;
  onDiscard: () => void;
};
type Props = Omit<Edited, 'mappings'> & { mappings: Edited['mappings'] | null }; // null: nothing is changed

export function SaveBar({ mappings, ...edited }: Props) {
  const client = useQueryClient();
  const { run, bar } = useDeliverAfterSave(
    async (begun: Begun) => {
      await deliverSkipped(client, edited.id, begun);
      toast(savedText(begun));
    },
    {
      delivering: t('products.delivering'),
      failed: (why) => t('products.notDelivered', { why }),
      again: t('products.deliver'),
    },
  );
  if (mappings) return <Changes {...edited} mappings={mappings} onDeliver={(begun) => void run(begun)} />;
  return bar;
}

function Changes({
  id,
  version,
  mappings,
  changes,
  onBegin,
  onDone,
  onDiscard,
  onDeliver,
}: Edited & { onDeliver: (begun: Begun) => void }) {
  const { save, busy, error } = useSaveMatches(id);
  const [asked, setAsked] = useState(false); // the orders, after the save
  const client = useQueryClient();
  const have = useQuery(queries.credits()).data?.available;
  const { orders, before, credits, counting } = useMoreSkipped(id, mappings);
  const { short, words } = creditsFor(credits, have);
  const delivers = orders.count > 0;
  const conflict = error instanceof ApiError && error.code === 'CONFLICT';

  function reload() {
    onBegin();
    void client.invalidateQueries({ queryKey: ['stores'] }).then(onDone);
  }
  const act = (deliver: boolean, over = false) =>
    void save(
      () => {
        onBegin();
        setAsked(deliver);
        return { mappings, ...(over ? {} : { version }) };
      },
      (saved) => {
        onDone();
        if (deliver) return onDeliver({ orders, short });
        toastSaved(saved);
        void client.invalidateQueries({ queryKey: ['stores'] });
      },
    );
  return (
    <Bar>
      <p>
        <span className="strong">{t('products.changed', { count: changes })}</span>{' '}
        {delivers && !counting ? <span className="muted">{reprocessWords(orders, before, words)}</span> : null}
      </p>
      {error ? <Alert>{conflict ? t('products.conflict') : sentence(error)}</Alert> : null}
      {conflict ? (
        <BarButtons>
          <Button onClick={reload}>{t('products.reload')}</Button>
          <Button variant="filled" disabled={asked && counting} onClick={() => act(asked, true)}>
            {t('products.keep')}
          </Button>
        </BarButtons>
      ) : (
        <BarButtons>
          <Button variant="subtle" disabled={busy} onClick={onDiscard}>
            {t('action.discard')}
          </Button>
          <Button
            variant={delivers && !short ? 'default' : 'filled'}
            aria-disabled={busy || undefined}
            onClick={() => act(false)}
          >
            {busy ? t('action.saving') : t('products.save')}
          </Button>
          {delivers ? (
            <Button
              variant={short ? 'default' : 'filled'}
              disabled={counting}
              aria-disabled={busy || undefined}
              onClick={() => act(true)}
            >
              {counting ? t('products.counting') : ordersText('products.saveDeliver', orders)}
            </Button>
          ) : null}
        </BarButtons>
      )}
    </Bar>
  );
}
