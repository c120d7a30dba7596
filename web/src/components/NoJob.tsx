// In the place of a job that the address names and the service does not know.
import { ActionIcon } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { t } from '@/i18n/text';
import { Alert } from './Alert';

export function NoJob({ onClose }: { onClose: () => void }) {
  return (
    <Alert
      action={
        <ActionIcon aria-label={t('action.close')} onClick={onClose}>
          <IconX size={17} />
        </ActionIcon>
      }
    >
      {t('error.noJob')}
    </Alert>
  );
}
