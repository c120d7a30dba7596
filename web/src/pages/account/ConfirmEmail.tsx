// Says that the address is not confirmed, and sends the link again.
import '@/i18n/en/mail';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok } from '@/api/client';
import { ApiError, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { duration } from '@/i18n/format';
import { t } from '@/i18n/text';
import { waitOf } from '@/session/words';
import styles from './account.module.css';

const words = (error: unknown) =>
  error instanceof ApiError && error.status === 429
    ? t('confirmEmail.tooOften', { time: duration(waitOf(error) * 1000) })
    : sentence(error);

export function ConfirmEmail() {
  const [error, setError] = useState<unknown>();
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  async function send() {
    if (!begin()) return;
    setError(undefined);
    try {
      await ok(api.POST('/api/auth/verification'));
      toast(t('confirmEmail.sent'));
    } catch (failure) {
      // It was confirmed elsewhere meanwhile.
      const confirmed = failure instanceof ApiError && failure.code === 'CONFLICT';
      if (confirmed) void client.invalidateQueries({ queryKey: queries.account().queryKey });
      else setError(failure);
    } finally {
      end();
    }
  }
  return (
    <div className={styles.unconfirmed}>
      <p>{t('confirmEmail.ask')}</p>
      <Button aria-disabled={busy || undefined} onClick={() => void send()}>
        {busy ? t('confirmEmail.sending') : t('confirmEmail.again')}
      </Button>
      {error ? <Alert>{words(error)}</Alert> : null}
    </div>
  );
}
