import { Button } from '@mantine/core';
import { IconMapPinOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { PageHeader } from '@/components/PageHeader';
import { EmptyState } from '@/components/States';
import { t } from '@/i18n/text';
import styles from './missing.module.css';

export function Missing({ body = t('error.missing.body') }: { body?: string }) {
  return (
    <div className={styles.place}>
      <PageHeader title={t('error.missing.title')} />
      <EmptyState
        icon={IconMapPinOff}
        title={t('error.missing.title')}
        body={body}
        action={
          <Button component={Link} to="/">
            {t('error.missing.home')}
          </Button>
        }
      />
    </div>
  );
}
