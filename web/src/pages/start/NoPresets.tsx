import '@/i18n/en/guide';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { Alert } from '@/components/Alert';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import styles from './start.module.css';

// The button reads from the platform, not from the stored list.
export function NoPresets() {
  const client = useQueryClient();
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  async function refresh() {
    if (!begin()) return;
    setError(undefined);
    try {
      await ok(api.GET('/api/presets', { params: { query: { limit: 50, refresh: true } } }));
      await client.invalidateQueries({ queryKey: ['presets'] });
    } catch (failure) {
      setError(failure);
    }
    end();
  }
  return (
    <div className={styles.parts}>
      <p>{t('guide.mapping.noFiles')}</p>
      {error ? <Alert>{sentence(error)}</Alert> : null}
      <div>
        <Button
          variant="filled"
          size="md"
          aria-disabled={busy || undefined}
          onClick={() => (busy ? undefined : void refresh())}
        >
          {busy ? t('action.working') : t('guide.mapping.look')}
        </Button>
      </div>
    </div>
  );
}
