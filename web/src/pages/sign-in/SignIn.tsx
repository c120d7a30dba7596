import { Button, TextInput } from '@mantine/core';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { PasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { session, useSession } from '@/session';
import { signInConfig } from '@/session/config';
import { useQuery } from '@tanstack/react-query';
import { Issuers } from './Issuers';
import { SignInAlert } from '@/session/SignInAlert';
import { useSignInError } from '@/session/useSignInError';
import { Frame } from './Frame';
import { placeAfter } from './parts';
import styles from './sign-in.module.css';

const route = getRouteApi('/sign-in');

export function SignIn() {
  const search = route.useSearch();
  const state = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const [forgot, setForgot] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const config = useQuery(signInConfig()).data;
  if (state.name === 'in') return <Navigate to={placeAfter(search.to)} replace />;

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    fail(undefined);
    await session.signIn(email.trim(), password).catch(fail);
    end();
  }
  return (
    <Frame
      title={t('signIn.title')}
      lead={t(state.name === 'out' && state.everywhere ? 'signIn.everywhere' : 'signIn.lead')}
      page={t('signIn.page')}
    >
      {config?.passwords === false ? null : (
        <form className={styles.form} onSubmit={(event) => void submit(event)}>
          <TextInput
            ref={first}
            className={styles.email}
            label={t('signIn.email')}
            type="email"
            name="email"
            autoComplete="username"
            size="md"
            required
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <div>
            <PasswordField
              label={t('signIn.password')}
              name="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <p className={styles.answer} aria-live="polite">
              {forgot ? t('signIn.forgotAnswer') : null}
            </p>
          </div>
          <SignInAlert error={error} left={left} />
          <Button
            type="submit"
            variant="filled"
            size="lg"
            fullWidth
            disabled={left > 0}
            aria-disabled={busy || undefined}
          >
            {busy ? t('signIn.busy') : t('signIn.button')}
          </Button>
          {config?.mail ? (
            <Link className={`link ${styles.forgot}`} to="/reset">
              {t('signIn.forgot')}
            </Link>
          ) : (
            <button
              type="button"
              className={`link ${styles.forgot}`}
              aria-expanded={forgot}
              onClick={() => setForgot(!forgot)}
            >
              {t('signIn.forgot')}
            </button>
          )}
        </form>
      )}
      <Issuers config={config} to={placeAfter(search.to)} />
      <p className={styles.other}>
        {config?.signup === 'closed' ? (
          t('signUp.closed')
        ) : config?.signup === 'invite' ? (
          t('signUp.invite')
        ) : (
          <T
            k="signIn.new"
            values={{
              link: (
                <Link className="link" to="/sign-up" search={search}>
                  {t('signIn.newLink')}
                </Link>
              ),
            }}
          />
        )}
      </p>
    </Frame>
  );
}
