// Dialogs: a plain one, one that asks before something is done, and the frame of forms in them.
import { Button, Modal } from '@mantine/core';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { sentence } from '@/api/errors';
import { t } from '@/i18n/text';
import { useStepUpAsked } from '@/session/useStepUpAsked';
import { Alert } from './Alert';
import { useFailure } from './useFailure';
import { useSubmit } from './useSubmit';
import styles from './Dialogs.module.css';

type DialogProps = { opened: boolean; onClose: () => void; title: string; size?: number; children: ReactNode };

// Once a field of its form was changed, a dialog is closed by its buttons alone: a click beside it or Esc would lose what was typed. While a
// step-up stands over it, Esc is the step-up's.
export function Dialog({ opened, onClose, title, size = 480, children }: DialogProps) {
  const [changed, setChanged] = useState(false);
  const covered = useStepUpAsked();
  if (!opened && changed) setChanged(false);
  const changes = (fields: string) => (event: SyntheticEvent) => {
    if (event.target instanceof Element && event.target.closest(fields)) setChanged(true);
  };
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={!changed}
      closeOnEscape={!changed && !covered}
      onInput={changes('form')}
      onClick={changes('[role="option"]')} // the list of a field stands outside of the form
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
  const { error, fail, clear } = useFailure(button, opened);
  const waits = useStepUpAsked(); // nothing is done before the person has confirmed
  const close = () => {
    clear();
    onClose();
  };
  async function confirm() {
    if (!begin()) return;
    clear();
    try {
      await onConfirm();
      close();
    } catch (failure) {
      fail(failure);
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
            {busy && !waits ? t('action.working') : (over ?? button)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
