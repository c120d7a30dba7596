// Asks before all orders of a filter are processed again: how many they are, and what that may cost.
import '@/i18n/en/orders';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { ConfirmDialog } from '@/components/Dialogs';
import { t } from '@/i18n/text';
import type { Search } from '../search';
import { filterOf } from './filters';

type Props = { search: Search; onClose: () => void; onStarted: (job: string) => void };

export function ProcessAgain({ search, onClose, onStarted }: Props) {
  const [now] = useState(() => Date.now()); // one time for the count and the action, so that both find the same orders
  const filter = filterOf(search, now);
  const credits = useQuery(queries.credits());
  const counted = useQuery({
    queryKey: ['orders', 'toProcess', filter],
    queryFn: () =>
      ok(api.POST('/api/orders/reprocess', { body: { ...filter, dryRun: true } })) as Promise<Schemas['BulkCount']>,
    staleTime: 0,
  });
  const { total = 0, totalIsExact = true } = counted.data ?? {};
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('orders.again.title')}
      body={
        counted.error ? (
          <Alert>{sentence(counted.error)}</Alert>
        ) : (
          <>
            <p>
              {!counted.data
                ? t('orders.again.counting')
                : total === 0
                  ? t('orders.again.none')
                  : totalIsExact
                    ? t('orders.again.count', { count: total })
                    : t('orders.again.many', { n: total })}
            </p>
            {filter.unmapped || filter.outcome ? null : <p>{t('orders.again.only')}</p>}
            {total > 0 && credits.data ? <p>{t('orders.again.credits', { n: credits.data.available })}</p> : null}
          </>
        )
      }
      button={totalIsExact ? t('orders.again.button', { count: total }) : t('orders.again.buttonMany')}
      ready={total > 0}
      onConfirm={async () => {
        const job = (await ok(api.POST('/api/orders/reprocess', { body: filter }))) as Schemas['BulkJob'];
        onStarted(job.id);
      }}
    />
  );
}
