// Asks for the password in the middle of an action, which goes on afterwards.
import '@/i18n/en/step_up';
import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { PasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { Issuers } from '@/pages/sign-in/Issuers';
import { session } from '.';
import { signInConfig } from './config';
import { purposeWords } from './purpose';
import { SignInAlert } from './SignInAlert';
import { stepUp } from './step_up';
import { useByIssuer } from './useByIssuer';
import { useSignInError } from './useSignInError';
import { signInSentence } from './words';
import styles from './session.module.css';

// The focus goes back to where it was, which may be in a dialog below.
function useFocusBack() {
  const [before] = useState(() => document.activeElement);
  useEffect(() => () => void (before instanceof HTMLElement && before.focus()), [before]);
}

export function StepUp() {
  useFocusBack();
  return (
    <Modal
      opened
      onClose={() => stepUp.answer(false)}
      title={t('stepUp.title')}
      size={420}
      zIndex={300}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Form />
    </Modal>
  );
}

function Form() {
  const [password, setPassword] = useState('');
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const config = useQuery(signInConfig());
  const byIssuer = useByIssuer();
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    fail(undefined);
    try {
      await session.stepUp(password);
      stepUp.answer(true);
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <p className="muted">{purposeWords(stepUp.request(), byIssuer === true)}</p>
      {byIssuer ? null : (
        <>
          <PasswordField
            label={t('signIn.password')}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            data-autofocus
          />
          <SignInAlert error={error} left={left} words={(failure) => signInSentence(failure, true)} />
          <Button
            type="submit"
            variant="filled"
            size="lg"
            disabled={!password || left > 0}
            aria-disabled={busy || undefined}
          >
            {busy ? t('signIn.busy') : t('stepUp.button')}
          </Button>
        </>
      )}
      <Issuers config={config.data} to="/confirmed" stepUp or={!byIssuer} inTab={t('stepUp.otherTab')} />
    </form>
  );
}
