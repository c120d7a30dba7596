// Asks for the address. The answer is the same whether somebody has it or nobody.
import '@/i18n/en/mail';
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { ok, open } from '@/api/client';
import { errorOfNetwork, problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { Loaded, SkeletonRows } from '@/components/States';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { signInConfig } from '@/session/config';
import { SignInAlert } from '@/session/SignInAlert';
import { useSignInError } from '@/session/useSignInError';
import { Frame } from '../sign-in/Frame';
import styles from '../sign-in/sign-in.module.css';

export function AskReset() {
  const [sent, setSent] = useState(false);
  const config = useQuery(signInConfig());
  const page = t('reset.page');
  const toSignIn = (
    <Link className="link" to="/sign-in">
      {t('reset.toSignIn')}
    </Link>
  );
  if (sent)
    return (
      <Frame title={t('reset.sent.title')} lead="" page={page}>
        <p role="status">{t('reset.sent.body')}</p>
        <p className={styles.other}>
          <T
            k="reset.sent.again"
            values={{
              link: (
                <button type="button" className="link" onClick={() => setSent(false)}>
                  {t('reset.sent.againLink')}
                </button>
              ),
            }}
          />
        </p>
        <p className={styles.other}>{toSignIn}</p>
      </Frame>
    );
  const off = config.data && !(config.data.mail && config.data.passwords);
  return (
    <Frame title={t('reset.title')} lead={off ? '' : t('reset.lead')} page={page}>
      <Loaded read={config} what={t('reset.what')} skeleton={<SkeletonRows rows={2} />}>
        {({ mail, passwords }) =>
          mail && passwords ? <Form onSent={() => setSent(true)} /> : <p className="muted">{t('reset.off')}</p>
        }
      </Loaded>
      <p className={styles.other}>{toSignIn}</p>
    </Frame>
  );
}

function Form({ onSent }: { onSent: () => void }) {
  const [email, setEmail] = useState('');
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const problems = problemsOf(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    fail(undefined);
    const asked = open.POST('/api/auth/password-reset', { body: { email: email.trim() } });
    try {
      await ok(
        asked.catch(() => {
          throw errorOfNetwork();
        }),
      );
      onSent();
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        ref={first}
        label={t('signIn.email')}
        type="email"
        name="email"
        autoComplete="username"
        size="md"
        required
        maxLength={254}
        value={email}
        error={problems.email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <FormError error={error}>
        <SignInAlert error={error} left={left} />
      </FormError>
      <Button type="submit" variant="filled" size="lg" fullWidth disabled={left > 0} aria-disabled={busy || undefined}>
        {busy ? t('reset.sending') : t('reset.send')}
      </Button>
    </form>
  );
}
