// A new password. It ends all other sessions, and shows the tokens that are in force.
import '@/i18n/en/profile';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ApiError, problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { FormError } from '@/components/FormError';
import { NewPasswordField, PasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { signInConfig } from '@/session/config';
import type { Schemas } from '@/api/client';
import { hostOf } from './issuers';
import { PasswordChanged } from './PasswordChanged';
import styles from './account.module.css';

export function Password({ issuer, email }: { issuer: string | undefined; email: string | undefined }) {
  const config = useQuery(signInConfig());
  const own = useQuery(queries.ownIssuer());
  const elsewhere = issuer && own.data && issuer !== own.data ? hostOf(issuer) : null;
  return (
    <section className={styles.part}>
      <div>
        <h2>{t('password.title')}</h2>
        <p className="muted">
          {config.data?.passwords === false
            ? t('password.off')
            : elsewhere
              ? t('password.elsewhere', { issuer: elsewhere })
              : t('password.lead')}
        </p>
      </div>
      {elsewhere || config.data?.passwords === false ? null : <Form email={email} />}
    </section>
  );
}

function Form({ email }: { email: string | undefined }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const [keys, setKeys] = useState<Schemas['ApiKey'][] | null>();
  const problems = problemsOf(error);
  const wrong = error instanceof ApiError && error.code === 'INVALID_CREDENTIALS';
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      setKeys(await session.changePassword(current, next));
      setCurrent('');
      setNext('');
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      <input
        className="unseen"
        type="email"
        autoComplete="username"
        value={email ?? ''}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <PasswordField
        label={t('password.current')}
        autoComplete="current-password"
        required
        value={current}
        error={wrong ? t('password.wrong') : problems.currentPassword}
        onChange={(event) => setCurrent(event.currentTarget.value)}
      />
      <NewPasswordField
        label={t('password.next')}
        value={next}
        error={problems.newPassword}
        onChange={(event) => setNext(event.currentTarget.value)}
      />
      <FormError error={error} codes={['INVALID_CREDENTIALS']} />
      <div>
        <Button type="submit" size="md" disabled={!current || !next} aria-disabled={busy || undefined}>
          {busy ? t('password.changing') : t('password.change')}
        </Button>
      </div>
      {keys === undefined ? null : <PasswordChanged keys={keys} onClose={() => setKeys(undefined)} />}
    </form>
  );
}
