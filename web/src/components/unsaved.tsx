// Asks before a page with unsaved changes is left.
import { Button } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { t } from '@/i18n/text';
import { Dialog } from './Dialogs';
import styles from './Dialogs.module.css';

export function useUnsaved(changed: boolean) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => changed && current.pathname !== next.pathname,
    enableBeforeUnload: changed,
    withResolver: true,
  });
  return (
    <Dialog opened={status === 'blocked'} onClose={() => reset?.()} title={t('leave.title')} size={420}>
      <div className={styles.form}>
        <p className="muted">{t('leave.body')}</p>
        <div className={styles.buttons}>
          <Button size="lg" onClick={() => reset?.()}>
            {t('leave.stay')}
          </Button>
          <Button size="lg" variant="filled" onClick={() => proceed?.()}>
            {t('leave.go')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
