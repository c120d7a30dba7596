// Another e-mail address to sign in with. It ends all other sessions, as a new password does.
import '@/i18n/en/profile';
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { Schemas } from '@/api/client';
import { ApiError, problemsOf } from '@/api/errors';
import { Bdi } from '@/components/Bdi';
import { FormError } from '@/components/FormError';
import { PasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { ConfirmEmail } from './ConfirmEmail';
import { PasswordChanged } from './PasswordChanged';
import styles from './account.module.css';

// `unconfirmed`: the person can confirm the address, and has not.
export function Email({ email, unconfirmed }: { email: string; unconfirmed: boolean }) {
  return (
    <section className={styles.part}>
      <div>
        <h2>{t('email.title')}</h2>
        <p className="muted">{t('email.lead')}</p>
      </div>
      <Form now={email} unconfirmed={unconfirmed} />
    </section>
  );
}

function Form({ now, unconfirmed }: { now: string; unconfirmed: boolean }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const [keys, setKeys] = useState<Schemas['ApiKey'][] | null>();
  const client = useQueryClient();
  const problems = problemsOf(error);
  const code = error instanceof ApiError ? error.code : null;
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      setKeys(await session.changeEmail(password, email.trim()));
      setEmail('');
      setPassword('');
      for (const key of ['account', 'people']) void client.invalidateQueries({ queryKey: [key] });
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      <div>
        <p>
          {t('email.now')} <Bdi className="strong">{now}</Bdi>
        </p>
        {unconfirmed ? <ConfirmEmail /> : null}
      </div>
      <TextInput
        label={t('email.next')}
        type="email"
        autoComplete="email"
        size="md"
        required
        maxLength={254}
        value={email}
        error={code === 'EMAIL_TAKEN' ? t('signUp.taken') : problems.email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordField
        label={t('email.password')}
        autoComplete="current-password"
        required
        value={password}
        error={code === 'INVALID_CREDENTIALS' ? t('email.wrong') : problems.password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <FormError error={error} codes={['EMAIL_TAKEN', 'INVALID_CREDENTIALS']} />
      <div>
        <Button type="submit" size="md" disabled={!email.trim() || !password} aria-disabled={busy || undefined}>
          {busy ? t('password.changing') : t('email.change')}
        </Button>
      </div>
      {keys === undefined ? null : (
        <PasswordChanged title={t('email.done')} keys={keys} onClose={() => setKeys(undefined)} />
      )}
    </form>
  );
}
