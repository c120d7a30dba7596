// Asks for the password in the middle of an action, which goes on afterwards.
import { Button, Modal, PasswordInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Alert } from '@/components/Alert';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { session } from '.';
import { signInConfig } from './config';
import { stepUp } from './step_up';
import { signInSentence } from './words';
import styles from './session.module.css';

export function StepUp() {
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
  const [error, setError] = useState<unknown>();
  const { busy, begin, end } = useSubmit();
  const config = useQuery(signInConfig());
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      await session.stepUp(password);
      stepUp.answer(true);
    } catch (failure) {
      setError(failure);
      end();
    }
  }
  const here = encodeURIComponent(window.location.pathname);
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      {config.data?.passwords === false ? null : (
        <>
          <p className="muted">{t('stepUp.body')}</p>
          <PasswordInput
            label={t('signIn.password')}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            data-autofocus
            size="md"
            visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
          />
          {error ? <Alert>{signInSentence(error, true)}</Alert> : null}
          <Button type="submit" variant="filled" size="lg" disabled={!password} aria-disabled={busy || undefined}>
            {busy ? t('signIn.busy') : t('stepUp.button')}
          </Button>
        </>
      )}
      {config.data?.issuers.map(({ id, name, startUrl }) => (
        <Button key={id} component="a" href={`${startUrl}?stepUp=true&returnTo=${here}`} size="lg">
          {t('signIn.with', { issuer: name })}
        </Button>
      ))}
    </form>
  );
}
