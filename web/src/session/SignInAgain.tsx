// The sign-in over a page whose session has ended. Text that was typed into the page stays.
import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Bdi } from '@/components/Bdi';
import { PasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { Issuers } from '@/pages/sign-in/Issuers';
import { session } from '.';
import { signInConfig } from './config';
import { SignInAlert } from './SignInAlert';
import { useByIssuer } from './useByIssuer';
import { useSignInError } from './useSignInError';
import styles from './session.module.css';

export function SignInAgain({ email }: { email: string }) {
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
      await session.signIn(email, password);
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t('session.ended.title')}
      size={420}
    >
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <p className="muted">{t('session.ended.body')}</p>
        <p>
          <T k="session.ended.as" values={{ email: <Bdi className="strong">{email}</Bdi> }} />
        </p>
        {byIssuer ? null : (
          <>
            <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
            <PasswordField
              label={t('signIn.password')}
              autoComplete="current-password"
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              data-autofocus
            />
            <SignInAlert error={error} left={left} />
            <Button
              type="submit"
              variant="filled"
              size="lg"
              disabled={!password || left > 0}
              aria-disabled={busy || undefined}
            >
              {busy ? t('signIn.busy') : t('signIn.button')}
            </Button>
          </>
        )}
        <Issuers config={config.data} to="/signed-in" or={!byIssuer} inTab={t('session.otherTab')} />
        <button type="button" className="link" onClick={() => session.forget()}>
          {t('session.other')}
        </button>
      </form>
    </Modal>
  );
}
