// The number of changes, the orders that could be delivered after saving, and the buttons.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { ApiError, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import styles from './products.module.css';

type Props = { id: string; version: number; mappings: Schemas['NewMapping'][]; changes: number; onDone: () => void };

export function SaveBar({ id, version, mappings, changes, onDone }: Props) {
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const [asked] = useDebouncedValue(mappings, 400);
  const client = useQueryClient();
  const params = { path: { integration: id } };
  const preview = useQuery({
    queryKey: ['stores', 'reprocessable', id, asked],
    queryFn: ({ signal }) =>
      ok(api.POST('/api/integrations/{integration}/mappings/preview', { params, body: { mappings: asked }, signal })),
    placeholderData: keepPreviousData,
  });
  const orders = preview.data?.reprocessableOrders ?? 0;
  const conflict = error instanceof ApiError && error.code === 'CONFLICT';

  async function save(deliver: boolean, over = false) {
    if (!begin()) return;
    setError(undefined);
    try {
      const next = await ok(
        api.PUT('/api/integrations/{integration}/mappings', {
          params,
          body: { mappings, ...(over ? {} : { version }) },
        }),
      );
      if (deliver)
        await ok<unknown>(api.POST('/api/orders/reprocess', { body: { integrationId: id, unmapped: true } }));
      client.setQueryData(queries.mappings(id).queryKey, next);
      onDone();
      toast(
        deliver
          ? t('products.savedDeliver', { count: orders })
          : next.unknownFileIds
            ? t('products.unknownFiles', { count: next.unknownFileIds.length })
            : t('products.saved'),
        { tone: next.unknownFileIds ? 'bad' : 'good' },
      );
      void client.invalidateQueries({ queryKey: ['stores'] });
      void client.invalidateQueries({ queryKey: ['deliveries'] });
    } catch (failure) {
      setError(failure);
      end();
    }
  }
  return (
    <div className={styles.sticky} role="region" aria-label={t('action.save')}>
      <p>
        <span className="strong">{t('products.changed', { count: changes })}</span>{' '}
        <span className="muted">{orders > 0 ? t('products.reprocess', { count: orders }) : null}</span>
      </p>
      {error ? <Alert>{conflict ? t('products.conflict') : sentence(error)}</Alert> : null}
      {conflict ? (
        <>
          <Button onClick={() => void client.invalidateQueries({ queryKey: ['stores'] }).then(onDone)}>
            {t('products.reload')}
          </Button>
          <Button variant="filled" onClick={() => void save(false, true)}>
            {t('products.keep')}
          </Button>
        </>
      ) : (
        <>
          <Button variant="subtle" disabled={busy} onClick={onDone}>
            {t('action.discard')}
          </Button>
          <Button
            variant={orders > 0 ? 'default' : 'filled'}
            aria-disabled={busy || undefined}
            onClick={() => (busy ? undefined : void save(false))}
          >
            {busy ? t('action.saving') : t('products.save')}
          </Button>
          {orders > 0 ? (
            <Button
              variant="filled"
              aria-disabled={busy || undefined}
              onClick={() => (busy ? undefined : void save(true))}
            >
              {t('products.saveDeliver', { count: orders })}
            </Button>
          ) : null}
        </>
      )}
    </div>
  );
}
