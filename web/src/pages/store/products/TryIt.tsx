// The files that one of the shop's orders would deliver, with the changes that are not saved yet.
import '@/i18n/en/stores';
import { NativeSelect } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Loaded, SkeletonRows } from '@/components/States';
import { Shape } from '@/components/StatusIcon';
import { isolated } from '@/i18n/outside';
import { t } from '@/i18n/text';
import { orderName } from '@/vocabulary/order';
import { freeText } from './free';
import styles from './products.module.css';

type Props = { id: string; mappings: Schemas['NewMapping'][] | null }; // null: as they are saved

export function TryIt({ id, mappings }: Props) {
  const orders = useQuery(queries.orders({ integrationId: id, limit: 20 }));
  const [chosen, setChosen] = useState<string | null>(null);
  const rows = orders.data?.data.filter(({ lineCount }) => lineCount > 0) ?? [];
  const order = rows.find((row) => row.id === chosen) ?? rows[0];
  const preview = useQuery({
    queryKey: ['stores', 'preview', id, order?.orderId, mappings],
    enabled: order !== undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ok(
        api.POST('/api/integrations/{integration}/mappings/preview', {
          params: { path: { integration: id } },
          body: { orderId: order?.orderId ?? '', ...(mappings ? { mappings } : {}) },
          signal,
        }),
      ),
  });
  return (
    <aside className={styles.tryIt} aria-label={t('try.title')}>
      <div>
        <h2>{t('try.title')}</h2>
        <p>{rows.length > 0 ? t('try.lead') : t('try.none')}</p>
      </div>
      {order ? (
        <>
          <NativeSelect
            aria-label={t('try.choose')}
            data={rows.map((row) => ({
              value: row.id,
              label: `${isolated(orderName(row))}  ${t('try.products', { count: row.lineCount })}`,
            }))}
            value={order.id}
            onChange={(event) => setChosen(event.currentTarget.value)}
          />
          <Loaded read={preview} what={t('try.title')} skeleton={<SkeletonRows rows={2} />}>
            {(it) => <Preview it={it} order={order} />}
          </Loaded>
        </>
      ) : null}
    </aside>
  );
}

type Line = Schemas['MappingPreview']['lines'][number];

// The title of a test order's line says "Test order", unless the product is matched by its title.
function nameOfLine({ title, sku, productId, variantId, lineId }: Line, rehearsed: boolean) {
  const ids = sku ?? productId ?? variantId;
  return (rehearsed ? (ids ?? title) : (title ?? ids)) ?? lineId;
}

function Preview({ it, order }: { it: Schemas['MappingPreview']; order: Schemas['Order'] }) {
  const delivers = it.outcome === 'delivery';
  const named = Boolean(order.deliveryUsername ?? order.targetUsername);
  const rehearsed = order.orderId.startsWith('test-');
  const nameOf = new Map(it.files.map(({ fileId, fileName }) => [fileId, fileName || fileId]));
  const free = freeText(it);
  return (
    <>
      {it.outcome === 'delivery' ? null : <p>{t(`try.outcome.${it.outcome}`)}</p>}
      <ul className={styles.lines}>
        {it.lines.slice(0, 20).map((line) => (
          <li key={line.lineId}>
            <div className={styles.line}>
              <strong>
                <Bdi>{nameOfLine(line, rehearsed)}</Bdi>
              </strong>
              <span>
                {line.outcome === 'delivers' && line.matchedBy
                  ? t(`match.by.${line.matchedBy}`)
                  : t(line.outcome === 'ignored' ? 'try.ignored' : 'try.unmapped')}
              </span>
            </div>
            {line.fileIds.map((file) => (
              <div key={file} className={styles.file}>
                {delivers && named ? <Shape icon="check" colour="teal" /> : <Shape icon="circle" colour="grey" />}
                <Bdi>{nameOf.get(file) ?? file}</Bdi>
              </div>
            ))}
          </li>
        ))}
      </ul>
      {delivers ? (
        <div className={styles.sum}>
          <span>{t(named ? 'try.gets' : 'try.nobody', { count: it.files.length })}</span>
          <strong>{t('try.cost', { credits: t('count.credits', { count: it.credits }) })}</strong>
          {free ? <p>{free}</p> : null}
        </div>
      ) : null}
      {it.tooLarge ? <p>{t('try.tooLarge')}</p> : null}
    </>
  );
}
