// Dialogs: a plain one, one that asks before something is done, and the frame of forms in them.
import { Button, Modal } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { sentence } from '@/api/errors';
import { t } from '@/i18n/text';
import { Alert } from './Alert';
import { useSubmit } from './useSubmit';
import styles from './Dialogs.module.css';

type DialogProps = { opened: boolean; onClose: () => void; title: string; size?: number; children: ReactNode };

export function Dialog({ opened, onClose, title, size = 480, children }: DialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      {children}
    </Modal>
  );
}

type ConfirmProps = {
  opened: boolean;
  onClose: () => void;
  title: string;
  body: ReactNode;
  button: string;
  danger?: boolean;
  children?: ReactNode; // fields between the words and the buttons
  ready?: boolean;
  meanwhile?: string | undefined; // what happened since it was asked
  over?: string | undefined; // it cannot be done any more: says so in the place of the button's words
  onConfirm: () => Promise<unknown>; // the dialog closes when it is done, and says so when it fails
};

export function ConfirmDialog({
  opened,
  onClose,
  title,
  body,
  button,
  danger,
  children,
  ready = true,
  meanwhile,
  over,
  onConfirm,
}: ConfirmProps) {
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const close = () => {
    setError(undefined);
    onClose();
  };
  async function confirm() {
    if (!begin()) return;
    setError(undefined);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && !busy && !over) void confirm();
        }}
      >
        <div className="muted">{body}</div>
        {children}
        {error ? <Alert>{sentence(error)}</Alert> : meanwhile && !busy ? <Alert>{meanwhile}</Alert> : null}
        <div className={styles.buttons}>
          <Button size="lg" onClick={close}>
            {t('action.cancel')}
          </Button>
          <Button
            size="lg"
            type="submit"
            variant={danger ? 'danger' : 'filled'}
            disabled={!ready || (over !== undefined && !busy)}
            aria-disabled={busy || undefined}
          >
            {busy ? t('action.working') : (over ?? button)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
