// The new rows that a list does not show yet.
import { Button } from '@mantine/core';
import { t } from '@/i18n/text';
import styles from './FreshRows.module.css';

export function FreshRows({ count, onShow }: { count: number; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <Button className={styles.fresh} size="compact-sm" onClick={onShow}>
      {t('live.fresh', { count })}
    </Button>
  );
}
