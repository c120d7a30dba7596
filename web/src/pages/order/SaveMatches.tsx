// Saves what was chosen for the products of the order as matches of its store, and delivers the order with them.
import '@/i18n/en/orders';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { mappingsWith, matchesOf, type Draft } from '../store/products/draft';
import productStyles from '../store/products/products.module.css';
import type { Order } from './types';
import { useReprocess } from './OutcomePanel';

type Props = { it: Order; draft: Draft; onDone: () => void };

export function SaveMatches({ it, draft, onDone }: Props) {
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const reprocess = useReprocess(it.id);
  const set = useQuery(queries.mappings(it.integrationId));
  const credits = useQuery(queries.credits());
  const params = { path: { integration: it.integrationId } };
  const mappings = set.data ? mappingsWith(matchesOf(set.data.mappings), draft) : null;
  const preview = useQuery({
    queryKey: ['stores', 'preview', it.integrationId, it.orderId, mappings],
    enabled: mappings !== null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ok(
        api.POST('/api/integrations/{integration}/mappings/preview', {
          params,
          body: { orderId: it.orderId, ...(mappings ? { mappings } : {}) },
          signal,
        }),
      ),
  });
  const cost = preview.data?.outcome === 'delivery' ? preview.data.credits : undefined;
  const delivers = cost !== undefined && credits.data !== undefined;

  async function save(deliver: boolean) {
    if (!begin()) return;
    setError(undefined);
    try {
      const { version, mappings: saved } = await client.fetchQuery({
        ...queries.mappings(it.integrationId),
        staleTime: 0,
      });
      const next = await ok(
        api.PUT('/api/integrations/{integration}/mappings', {
          params,
          body: { version, mappings: mappingsWith(matchesOf(saved), draft) },
        }),
      );
      client.setQueryData(queries.mappings(it.integrationId).queryKey, next);
      if (deliver) await reprocess();
      else await client.invalidateQueries({ queryKey: ['orders'] });
      onDone();
      toast(t(deliver ? 'orderPage.savedDeliver' : 'products.saved'));
    } catch (failure) {
      setError(failure);
      end();
    }
  }
  const act = (deliver: boolean) => () => (busy ? undefined : void save(deliver));
  return (
    <div className={productStyles.sticky} role="region" aria-label={t('action.save')}>
      <p>
        <span className="strong">{t('products.changed', { count: draft.size })}</span>
      </p>
      {error ? <Alert>{sentence(error)}</Alert> : null}
      <Button variant="subtle" disabled={busy} onClick={onDone}>
        {t('action.discard')}
      </Button>
      <Button variant={delivers ? 'default' : 'filled'} aria-disabled={busy || undefined} onClick={act(false)}>
        {busy ? t('action.saving') : t('orderPage.save')}
      </Button>
      {delivers ? (
        <Button variant="filled" aria-disabled={busy || undefined} onClick={act(true)}>
          {t('orderPage.saveDeliver', {
            credits: t('count.credits', { count: cost }),
            available: credits.data.available,
          })}
        </Button>
      ) : null}
    </div>
  );
}
