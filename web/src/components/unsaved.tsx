// Asks before a page is left: one with unsaved changes, or one that shows something a last time.
import { Button } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { t } from '@/i18n/text';
import { Dialog } from './Dialogs';
import styles from './Dialogs.module.css';

export const useUnsaved = (changed: boolean) =>
  useLeaveAsked(() => changed, t('leave.title'), t('leave.body'), t('leave.unsaved'));

// `asks`: whether a departure needs an answer now.
export function useLeaveAsked(asks: () => boolean, title: string, body: string, leave = t('leave.go')) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => asks() && current.pathname !== next.pathname,
    enableBeforeUnload: asks,
    withResolver: true,
  });
  return (
    <Dialog opened={status === 'blocked'} onClose={() => reset?.()} title={title} size={420}>
      <div className={styles.form}>
        <p className="muted">{body}</p>
        <div className={styles.buttons}>
          <Button size="lg" onClick={() => proceed?.()}>
            {leave}
          </Button>
          <Button size="lg" variant="filled" data-autofocus onClick={() => reset?.()}>
            {t('leave.stay')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
