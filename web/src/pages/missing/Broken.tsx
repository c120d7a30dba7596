// Shown instead of a page that failed to render.
import { Button } from '@mantine/core';
import { IconBug } from '@tabler/icons-react';
import { EmptyState } from '@/components/States';
import { t } from '@/i18n/text';
import styles from './missing.module.css';

export function Broken({ reset }: { reset?: () => void }) {
  return (
    <div className={styles.place} role="alert">
      <EmptyState
        icon={IconBug}
        title={t('error.page.title')}
        body={t('error.page.body')}
        action={<Button onClick={() => (reset ? reset() : window.location.reload())}>{t('action.again')}</Button>}
      />
    </div>
  );
}
