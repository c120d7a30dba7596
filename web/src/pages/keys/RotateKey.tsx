// The question before a token is rotated.
import '@/i18n/en/account';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { ConfirmDialog } from '@/components/Dialogs';
import { OverlapChoice } from '@/components/OverlapChoice';
import { t } from '@/i18n/text';

type Props = { it: Schemas['ApiKey']; onClose: () => void; onIssued: (key: Schemas['IssuedApiKey']) => void };

export function RotateKey({ it, onClose, onIssued }: Props) {
  const [overlap, setOverlap] = useState(86_400);
  const params = { path: { key: it.id } };
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('keysPage.rotate.title', { name: it.name })}
      body={t('keysPage.rotate.body')}
      button={t('rotate.button')}
      onConfirm={async () =>
        onIssued(await ok(api.POST('/api/keys/{key}/rotate', { params, body: { overlapSeconds: overlap } })))
      }
    >
      <OverlapChoice value={overlap} onChange={setOverlap} />
    </ConfirmDialog>
  );
}
