// Replaces a file that is missing or cannot be shared. It changes what the store's products deliver from now on.
import '@/i18n/en/instead';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { Bdi } from '@/components/Bdi';
import { PresetPicker, type Mark } from '@/components/PresetPicker';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { orderIdOf } from '@/vocabulary/order';
import { useDeliveryActions } from './actions';
import { presentHolder } from './holders';
import { useStay } from './onward';
import type { Delivery } from './types';
import styles from './panels.module.css';

// Where it counts: one product by its name, several by their number.
function useProducts(it: Delivery, fileId: string | undefined): string | number {
  const mappings = useQuery(queries.mappings(it.integrationId)).data?.mappings ?? [];
  const order = useQuery(queries.order(orderIdOf(it.id))).data;
  const names = [
    ...new Map(
      mappings
        .filter((mapping) => mapping.fileId === fileId)
        .map(({ matchType, matchValue }) => [`${matchType} ${matchValue}`, matchValue]),
    ).values(),
  ];
  if (names.length !== 1) return names.length;
  const line = order?.lines.find(({ files }) => files.some((file) => file.fileId === fileId));
  return line?.title ?? names[0] ?? 0;
}

// The other deliveries that failed for the file; without a count where it is not known.
function useOthers({ integrationId, dryRun }: Delivery, fileId = '', enabled: boolean) {
  const { data } = useQuery({
    ...queries.deliveryCount({
      status: 'failed',
      resolutionCode: 'preset_not_found',
      integrationId,
      fileId,
      dryRun: false,
    }),
    enabled: enabled && fileId !== '',
  });
  return data?.count === undefined
    ? null
    : { count: Math.max(0, data.count - (dryRun ? 0 : 1)), exact: data.countIsExact ?? true };
}
type Others = NonNullable<ReturnType<typeof useOthers>>;

// The words about the others, before or after the save; none where there is no other.
function othersWords(of: 'others' | 'done', others: Others | null, store: string): string {
  if (others === null) return t(`instead.${of}.unknown`, { store });
  const { count, exact } = others;
  if (!exact) return t(`instead.${of}.many`, { n: count, store });
  return count > 0 ? t(`instead.${of}.some`, { count, store }) : '';
}

export function FileForm({ it, retry }: { it: Delivery; retry: boolean }) {
  const [file, setFile] = useState<Schemas['Preset'] | null>(null);
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const act = useDeliveryActions(it);
  const stay = useStay();
  // The failure is about the first file that it owes (resolution.fileName in the contract).
  const former = it.items.find(({ status, former }) => status === 'owed' && !former)?.fileId;
  const present = new Set(
    presentHolder(it)
      .items.filter(({ status }) => status !== 'dropped')
      .map(({ fileId }) => fileId),
  );
  const markOf = (id: string): Mark | undefined =>
    id === former
      ? { words: t('instead.mark.former'), disabled: true }
      : present.has(id)
        ? { words: t('instead.mark.present'), disabled: false }
        : undefined;
  const store = it.integrationName;
  const products = useProducts(it, former);
  // Deliveries that failed for a file that cannot be shared do not go on by themselves.
  const others = useOthers(it, former, !retry);

  async function use(chosen: Schemas['Preset']) {
    if (!begin()) return;
    setError(undefined);
    try {
      const path = { integration: it.integrationId };
      const { version, mappings } = await client.fetchQuery({ ...queries.mappings(it.integrationId), staleTime: 0 });
      if (!mappings.some(({ fileId }) => fileId === former)) throw new Error(t('instead.noMapping'));
      const next = mappings.map(({ id: _, ...mapping }) =>
        mapping.fileId === former
          ? { ...mapping, fileId: chosen.id, kind: chosen.kind, fileName: chosen.name, stale: false }
          : mapping,
      );
      await ok(
        api.PUT('/api/integrations/{integration}/mappings', { params: { path }, body: { version, mappings: next } }),
      );
      if (retry) await act('retry');
      void client.invalidateQueries({ queryKey: ['stores'] });
      void client.invalidateQueries({ queryKey: ['deliveries'] });
      toast((retry ? '' : othersWords('done', others, store)) || t('instead.done', { store }));
    } catch (failure) {
      stay();
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (file) void use(file);
        else stay();
      }}
    >
      {products === 0 ? null : (
        <p className="muted">
          <Bdi>
            {typeof products === 'string'
              ? t('instead.product', { product: products, store })
              : t('instead.products', { n: products, store })}
          </Bdi>{' '}
          {retry ? null : othersWords('others', others, store)}
        </p>
      )}
      <div className={styles.line}>
        <PresetPicker
          className={styles.field}
          label={t('instead.pick')}
          value={file}
          onChange={setFile}
          markOf={markOf}
        />
        <Button type="submit" variant="filled" size="md" disabled={!file} aria-disabled={busy || undefined}>
          {busy ? t('action.saving') : t(retry ? 'instead.useRetry' : 'instead.use')}
        </Button>
      </div>
      {file && present.has(file.id) ? (
        <p role="status">
          <T k="instead.had" values={{ preset: <Bdi>{file.name}</Bdi> }} />
        </p>
      ) : null}
      {error ? (
        <Alert>
          {error instanceof Error && error.message === t('instead.noMapping') ? error.message : sentence(error)}
        </Alert>
      ) : null}
    </form>
  );
}
