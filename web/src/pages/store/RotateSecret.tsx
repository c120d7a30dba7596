// Makes a new signing secret for a store. The former one goes on for a while where orders come already.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok } from '@/api/client';
import { ConfirmDialog } from '@/components/Dialogs';
import { OverlapChoice } from '@/components/OverlapChoice';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';

export function RotateSecret({ it, onSecret }: { it: Store; onSecret: (secret: string) => void }) {
  const [asked, setAsked] = useState(false);
  const [chosen, setChosen] = useState(86_400);
  const client = useQueryClient();
  const used = it.lastOrderAt !== null;
  async function rotate() {
    const { secret } = await ok(
      api.POST('/api/integrations/{integration}/rotate-secret', {
        params: { path: { integration: it.id } },
        body: { overlapSeconds: used ? chosen : 0 },
      }),
    );
    await client.invalidateQueries({ queryKey: ['stores'] });
    onSecret(secret);
  }
  return (
    <>
      <Button onClick={() => setAsked(true)}>{t('connection.rotate')}</Button>
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title={t('connection.rotate.title')}
        body={t(used ? 'connection.rotate.body' : 'connection.rotate.unused')}
        button={t('rotate.button')}
        onConfirm={rotate}
      >
        {used ? <OverlapChoice value={chosen} onChange={setChosen} /> : null}
      </ConfirmDialog>
    </>
  );
}
