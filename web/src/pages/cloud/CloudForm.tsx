// E-mail and password of the cloud platform; never refilled. Saving checks them there.
import '@/i18n/en/account';
import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { ApiError, problemsOf, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { FormError } from '@/components/FormError';
import { ForOwners } from '@/components/ForOwners';
import { PasswordField } from '@/components/PasswordField';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { duration } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import styles from './cloud.module.css';

type Props = {
  button: string;
  quiet?: boolean; // the page says by itself that the login is saved
  onSaved?: (state: Schemas['Credentials']) => void;
  onFailed?: () => void;
  onCancel?: () => void;
};

// `works`: a login is saved, and is not refused. RATE_LIMIT_EXCEEDED may have other causes than wrong passwords: too many different addresses,
// or failures of others at this one (spec 4.3).
function refusal(error: unknown, works: boolean): string {
  if (error instanceof ApiError && error.code === 'RATE_LIMIT_EXCEEDED' && error.retryAfterSeconds) {
    const wait = t('cloud.tooMany', { time: duration(error.retryAfterSeconds * 1000) });
    return works ? `${wait} ${t('cloud.stillWorks')}` : wait;
  }
  if (!(error instanceof ApiError) || error.code !== 'INVALID_CREDENTIALS') return sentence(error);
  return error.attemptsLeft === null ? t('cloud.refused') : t('cloud.refusedLeft', { count: error.attemptsLeft });
}

export function CloudForm(props: Props) {
  const owner = useIsOwner();
  if (owner === false) return <ForOwners>{t('cloud.owners')}</ForOwners>;
  return owner ? <Form {...props} /> : null;
}

function Form({ button, quiet, onSaved, onFailed, onCancel }: Props) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const status = useQuery(queries.cloud()).data?.status;
  const problems = problemsOf(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      const state = await ok(api.PUT('/api/credentials', { body: { email: email.trim(), password } }));
      client.setQueryData(queries.cloud().queryKey, state);
      for (const key of ['deliveries', 'presets', 'stores']) void client.invalidateQueries({ queryKey: [key] });
      if (!quiet)
        toast(
          state.status === 'valid' ? t('cloud.saved', { name: state.cloudUsername ?? '' }) : t('cloud.savedUnchecked'),
        );
      if (state.mappingsMadeStale) toast(t('cloud.stale', { count: state.mappingsMadeStale }), { tone: 'bad' });
      setPassword('');
      onSaved?.(state);
    } catch (failure) {
      setError(failure);
      onFailed?.();
    } finally {
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} autoComplete="off">
      <TextInput
        label={t('cloud.email')}
        type="email"
        autoComplete="off"
        size="md"
        required
        value={email}
        error={problems.email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordField
        label={t('cloud.password')}
        autoComplete="off"
        required
        value={password}
        error={problems.password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <FormError error={error}>
        <Alert>{refusal(error, status === 'valid' || status === 'unchecked')}</Alert>
      </FormError>
      <div className={styles.buttons}>
        <Button
          type="submit"
          variant="filled"
          size="md"
          disabled={!email || !password}
          aria-disabled={busy || undefined}
        >
          {busy ? t('cloud.checking') : button}
        </Button>
        {onCancel ? (
          <Button size="md" onClick={onCancel}>
            {t('action.cancel')}
          </Button>
        ) : null}
      </div>
    </form>
  );
}
