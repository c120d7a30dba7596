import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '@/components/Dialogs';
import { t } from '@/i18n/text';
import { isTaken, LONGEST_NAME } from './views';

type Props = { title: string; name: string; onClose: () => void; onName: (name: string) => Promise<void> };

export function NameDialog({ title, name, onClose, onName }: Props) {
  const [typed, setTyped] = useState(name);
  const given = typed.trim();
  const taken = isTaken(given);
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={title}
      body={t('views.what')}
      button={t('action.save')}
      ready={given !== '' && !taken}
      onConfirm={() => onName(given)}
    >
      <TextInput
        label={t('views.name')}
        value={typed}
        maxLength={LONGEST_NAME}
        error={taken ? t('views.taken', { name: given }) : undefined}
        data-autofocus
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
