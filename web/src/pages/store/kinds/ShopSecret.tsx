// The secret that the shop signs with. It is never shown again.
import '@/i18n/en/store_kinds';
import { Button } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { api, ok } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { PasswordField } from '@/components/PasswordField';
import { Shape } from '@/components/StatusIcon';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { useOwnSecret } from '../own_secret';
import styles from '../steps.module.css';
import { Whole } from './Whole';

const LEAST = 16; // characters, as the service asks for

export function ShopSecret({ it }: { it: Store }) {
  const [secret, setSecret] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const [left, setLeft] = useState(false); // the field was left, or sent, since it was empty
  const length = secret.trim().length;
  const short = left && length > 0 && length < LEAST ? t('steps.secretShort', { n: LEAST }) : undefined;
  const { end: stored, note } = useOwnSecret(it);
  async function submit(event: FormEvent) {
    event.preventDefault();
    setLeft(true);
    if (length < LEAST || !begin()) return;
    setError(undefined);
    try {
      // The former secret was ours, and nobody signs with it.
      const { secret: _, ...changed } = await ok(
        api.POST('/api/integrations/{integration}/rotate-secret', {
          params: { path: { integration: it.id } },
          body: { secret: secret.trim(), overlapSeconds: it.lastOrderAt === null ? 0 : 86_400 },
        }),
      );
      setSecret('');
      setLeft(false);
      toast(t('steps.secretSaved'));
      await note(changed);
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form className={styles.secret} noValidate onSubmit={(event) => void submit(event)}>
      <div className={styles.line}>
        <PasswordField
          aria-label={t('steps.secretLabel')}
          autoComplete="off"
          minLength={LEAST}
          maxLength={200}
          value={secret}
          error={short ?? problemsOf(error).secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          onBlur={() => setLeft(length > 0)}
        />
        <Button type="submit" variant="filled" size="md" disabled={length === 0} aria-disabled={busy || undefined}>
          {busy ? t('action.saving') : t('steps.secretSave')}
        </Button>
      </div>
      <FormError error={error} />
      {stored === null ? null : (
        <p className={styles.stored}>
          <Shape icon="check" colour="teal" />
          <span>
            <T k="steps.secretStored" values={{ preview: <Whole text={stored} /> }} />
          </span>
        </p>
      )}
      <p className={styles.note}>{t('steps.secretHint')}</p>
    </form>
  );
}
