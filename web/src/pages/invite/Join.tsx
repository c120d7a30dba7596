// Joining: with an e-mail address and a password, or by another identity provider.
import '@/i18n/en/people';
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ok, open } from '@/api/client';
import { ApiError, errorOfNetwork, problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { NewPasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { session, useOwesSignOut } from '@/session';
import { signInConfig } from '@/session/config';
import { SignInAlert } from '@/session/SignInAlert';
import { useSignInError } from '@/session/useSignInError';
import { signInSentence } from '@/session/words';
import styles from './invite.module.css';

function refusal(error: unknown): string {
  if (!(error instanceof ApiError)) return signInSentence(error);
  if (error.code === 'INVITATION_INVALID') return t('invite.gone.body');
  if (error.code === 'ACCOUNT_DISABLED') return t('invite.disabled.body');
  if (error.code === 'EMAIL_TAKEN') return t('invite.taken');
  if (error.code === 'LIMIT_REACHED') return t('invite.full');
  return signInSentence(error);
}

type Props = { token: string; onJoining: (now: boolean) => void };

export function Join({ token, onJoining }: Props) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const config = useQuery(signInConfig()).data;
  const issuers = (useOwesSignOut() ? undefined : config?.issuers) ?? []; // as in Issuers
  const problems = problemsOf(error);
  const alert = <SignInAlert error={error} left={left} words={refusal} />;
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    fail(undefined);
    onJoining(true); // before the session is there
    try {
      await session.signUp(email.trim(), password, { invitation: token });
    } catch (failure) {
      onJoining(false);
      fail(failure);
      end();
    }
  }
  return (
    <>
      {config?.passwords === false ? null : (
        <form className={styles.form} onSubmit={(event) => void submit(event)}>
          <TextInput
            label={t('signIn.email')}
            type="email"
            name="email"
            autoComplete="username"
            size="md"
            required
            value={email}
            error={problems.email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NewPasswordField
            value={password}
            error={problems.password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <FormError error={error}>{alert}</FormError>
          <Button
            type="submit"
            variant="filled"
            size="lg"
            fullWidth
            disabled={left > 0}
            aria-disabled={busy || undefined}
          >
            {busy ? t('invite.busy') : t('invite.button')}
          </Button>
        </form>
      )}
      {issuers.map(({ id, name }) => (
        <ByIssuer key={id} id={id} name={name} token={token} onError={fail} />
      ))}
      {config?.passwords === false ? alert : null}
    </>
  );
}

type IssuerProps = { id: string; name: string; token: string; onError: (error: unknown) => void };

function ByIssuer({ id, name, token, onError }: IssuerProps) {
  async function go() {
    onError(undefined);
    const asked = open.POST('/api/auth/external/{issuer}', {
      params: { path: { issuer: id } },
      body: { invitation: token },
    });
    try {
      const { url } = await ok(
        asked.catch(() => {
          throw errorOfNetwork();
        }),
      );
      if (!/^https?:\/\//.test(url)) throw new ApiError(502, 'ISSUER_UNAVAILABLE', '');
      window.location.assign(url);
    } catch (failure) {
      onError(failure);
    }
  }
  return (
    <Button className={styles.issuer} size="lg" fullWidth onClick={() => void go()}>
      {t('signIn.with', { issuer: name })}
    </Button>
  );
}
