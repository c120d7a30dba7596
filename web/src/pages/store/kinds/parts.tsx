// The parts that the steps of several kinds of shops share.
import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { Button, PasswordInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ok } from '@/api/client';
import { problemsOf, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { CopyField } from '@/components/Copy';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { usePasswordToggle } from '../../sign-in/parts';
import { RotateSecret } from '../RotateSecret';
import styles from '../steps.module.css';
import type { Event, StepsProps, Word } from './kind';

export const shopWord = (key: Word) => <strong>{t(key)}</strong>;

export const Address = ({ it }: { it: Store }) => <CopyField label={t('connection.address')} value={it.webhookUrl} />;

export function OurSecret({ it, secret, onSecret }: StepsProps) {
  if (secret !== null)
    return (
      <>
        <CopyField label={t('connection.secret')} value={secret} />
        <p className={styles.note}>{t('steps.secretNow')}</p>
      </>
    );
  return (
    <div className={styles.saved}>
      <p className={styles.note}>{t('steps.secretKept', { preview: it.secretPreview })}</p>
      {onSecret ? <RotateSecret it={it} onSecret={onSecret} /> : null}
    </div>
  );
}

export function OtherEvents({ says, events }: { says: string; events: readonly Event[] }) {
  return (
    <>
      {says}
      <ul className={styles.events}>
        {events.map(([event, why]) => (
          <li key={event}>
            {shopWord(event)} <span className="muted">{t(why)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

// The secret that the shop signs with. It is never shown again.
export function ShopSecret({ it }: { it: Store }) {
  const [secret, setSecret] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const toggle = usePasswordToggle();
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      // The former secret was ours, and nobody signs with it.
      await ok(
        api.POST('/api/integrations/{integration}/rotate-secret', {
          params: { path: { integration: it.id } },
          body: { secret: secret.trim(), overlapSeconds: it.lastOrderAt === null ? 0 : 86_400 },
        }),
      );
      setSecret('');
      toast(t('steps.secretSaved'));
      await client.invalidateQueries({ queryKey: queries.store(it.id).queryKey });
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form className={styles.secret} onSubmit={(event) => void submit(event)}>
      <div className={styles.line}>
        <PasswordInput
          aria-label={t('steps.secretLabel')}
          autoComplete="off"
          size="md"
          minLength={16}
          maxLength={200}
          value={secret}
          error={problemsOf(error).secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          {...toggle}
        />
        <Button
          type="submit"
          variant="filled"
          size="md"
          disabled={secret.trim().length < 16}
          aria-disabled={busy || undefined}
        >
          {busy ? t('action.saving') : t('steps.secretSave')}
        </Button>
      </div>
      {error && !problemsOf(error).secret ? <Alert>{sentence(error)}</Alert> : null}
      <p className={styles.note}>{t('steps.secretHint')}</p>
    </form>
  );
}
