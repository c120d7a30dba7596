// Replaces a file that is missing or cannot be shared. It changes what the store's products deliver from now on.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { PresetPicker } from '@/components/PresetPicker';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { useDeliveryActions } from './actions';
import { useStay } from './onward';
import type { Delivery } from './types';
import styles from './panels.module.css';

export function FileForm({ it, retry }: { it: Delivery; retry: boolean }) {
  const [file, setFile] = useState<Schemas['Preset'] | null>(null);
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const act = useDeliveryActions(it);
  const stay = useStay();
  const former = it.items.find(({ status, former }) => status === 'owed' && !former)?.fileId;

  async function use(chosen: Schemas['Preset']) {
    if (!begin()) return;
    setError(undefined);
    try {
      const path = { integration: it.integrationId };
      const { version, mappings } = await client.fetchQuery({ ...queries.mappings(it.integrationId), staleTime: 0 });
      if (!mappings.some(({ fileId }) => fileId === former)) throw new Error(t('fix.noMapping'));
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
      toast(t('act.retried'));
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
      <div className={styles.line}>
        <PresetPicker className={styles.field} label={t('fix.pick')} value={file} onChange={setFile} />
        <Button type="submit" variant="filled" size="md" disabled={!file} aria-disabled={busy || undefined}>
          {busy ? t('action.saving') : t(retry ? 'fix.useRetry' : 'fix.use')}
        </Button>
      </div>
      {error ? (
        <Alert>
          {error instanceof Error && error.message === t('fix.noMapping') ? error.message : sentence(error)}
        </Alert>
      ) : null}
    </form>
  );
}
