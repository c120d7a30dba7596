// Solves a failed delivery in its row: another attempt, or the username that is missing or wrong. A problem that needs more than that has no
// button here and is solved on the page of the delivery.
import '@/i18n/en/delivery';
import { Button, TextInput } from '@mantine/core';
import { IconPencil, IconRefresh } from '@tabler/icons-react';
import { useState, type FormEvent } from 'react';
import type { Schemas } from '@/api/client';
import { problemsOf, sentence } from '@/api/errors';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { FIXES, type Fix } from '@/vocabulary/delivery';
import { looksLikeMail, plainUsername } from '@/vocabulary/username';
import { isTooLate, queuedWords, said, sayWhyNot, useDeliveryActions } from '../delivery/actions';
import styles from './deliveries.module.css';

type Delivery = Schemas['Delivery'];

const RETRIED: ReadonlySet<Fix> = new Set(['retry', 'ask', 'waitMore', 'message', 'fileRetry', 'wait']);

export function RowFix({ it, naming, onName }: { it: Delivery; naming: boolean; onName: () => void }) {
  const act = useDeliveryActions(it);
  const { busy, begin, end } = useSubmit();
  const code = it.resolutionCode;
  if (code === null || !Object.hasOwn(FIXES, code)) return null;
  const order = it.orderNumber ?? it.orderId;
  // Another username after a share has to be asked about, on the page.
  if (FIXES[code] === 'username')
    return it.sharedCount > 0 ? null : (
      <Button
        className={styles.rowFix}
        size="compact-sm"
        leftSection={<IconPencil size={15} />}
        aria-label={t('row.usernameOf', { order })}
        aria-expanded={naming}
        onClick={onName}
      >
        <span>{t('row.username')}</span>
      </Button>
    );
  if (!RETRIED.has(FIXES[code])) return null;
  async function retry() {
    if (!begin()) return;
    // The gentler one of the two that the page offers.
    const body = code !== null && FIXES[code] === 'waitMore' ? { keepFriendRequest: true } : {};
    await said(act('retry', body), queuedWords, it.id);
    end();
  }
  return (
    <Button
      className={styles.rowFix}
      size="compact-sm"
      leftSection={<IconRefresh size={15} />}
      aria-label={t('row.retryOf', { order })}
      aria-disabled={busy || undefined}
      onClick={() => (busy ? undefined : void retry())}
    >
      <span>{t('fix.retry')}</span>
    </Button>
  );
}

export function RowUsername({ it, onDone }: { it: Delivery; onDone: () => void }) {
  const act = useDeliveryActions(it);
  const [name, setName] = useState(it.targetUsername ?? '');
  const { busy, begin, end } = useSubmit();
  const [problem, setProblem] = useState('');
  async function submit(event: FormEvent) {
    event.preventDefault();
    const targetUsername = plainUsername(name);
    if (!targetUsername) return setProblem(t('fix.empty'));
    if (looksLikeMail(targetUsername)) return setProblem(t('fix.mail'));
    if (!begin()) return;
    try {
      toast(queuedWords(await act('retry', { targetUsername })));
      onDone();
    } catch (error) {
      if (isTooLate(error)) {
        sayWhyNot(error, it.id);
        return onDone();
      }
      setProblem(problemsOf(error).targetUsername ?? sentence(error));
      end();
    }
  }
  return (
    <form className={styles.rowForm} onSubmit={(event) => void submit(event)}>
      <TextInput
        className={styles.rowField}
        label={t('fix.username')}
        leftSection={<span className="quiet">{'@'}</span>}
        autoComplete="off"
        spellCheck={false}
        autoCapitalize="none"
        autoFocus
        maxLength={200}
        value={name}
        error={problem || undefined}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" variant="filled" aria-disabled={busy || undefined}>
        {busy ? t('action.saving') : t('fix.saveRetry')}
      </Button>
      <Button variant="subtle" onClick={onDone}>
        {t('action.cancel')}
      </Button>
    </form>
  );
}
