// The new rows that a list does not show yet, and those that it still shows although they left it.
import { Button } from '@mantine/core';
import { t } from '@/i18n/text';
import styles from './FreshRows.module.css';

export function FreshRows({ count: fresh, left, onShow }: { count: number; left: number; onShow: () => void }) {
  if (fresh + left === 0) return null;
  return (
    <Button className={styles.fresh} size="compact-sm" onClick={onShow}>
      {left === 0
        ? t('live.fresh', { count: fresh })
        : fresh === 0
          ? t('live.left', { count: left })
          : t('live.freshAndLeft', { count: left, fresh })}
    </Button>
  );
}
