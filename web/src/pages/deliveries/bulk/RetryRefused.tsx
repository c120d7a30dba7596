// "Retry all that the platform refused": a button where there are some. ?do=retry-refused opens its question.
import '@/i18n/en/bulk';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '@/api/queries';
import { t } from '@/i18n/text';
import { BulkDialog } from './BulkDialog';
import styles from './bulk.module.css';

type Props = { opened: boolean; onOpen: (opened: boolean) => void; wide?: boolean };

export function RetryRefused({ opened, onOpen, wide = false }: Props) {
  const { data } = useQuery(queries.deliveryCount({ status: 'failed', resolutionCode: 'cloud_rejected' }));
  const [asOf, setAsOf] = useState(() => new Date().toISOString());
  const count = data?.count ?? 0;
  return (
    <>
      {count > 0 ? (
        <Button
          className={wide ? styles.wide : undefined}
          fullWidth={wide}
          leftSection={<IconRefresh size={16} />}
          onClick={() => {
            setAsOf(new Date().toISOString());
            onOpen(true);
          }}
        >
          {data?.countIsExact === false ? t('bulk.refusedAllMany') : t('bulk.refusedAll', { count })}
        </Button>
      ) : null}
      {opened ? (
        <BulkDialog
          action="retry"
          meant={{ filter: { status: ['failed'], resolutionCode: ['cloud_rejected'] }, asOf }}
          lead={t('bulk.refusedWhy')}
          onClose={() => onOpen(false)}
        />
      ) : null}
    </>
  );
}
