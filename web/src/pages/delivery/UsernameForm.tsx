// The field for the buyer's username. It begins with the username of the last attempt, as it was typed.
import '@/i18n/en/delivery';
import { Button, TextInput } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { problemsOf, sentence } from '@/api/errors';
import { Alert } from '@/components/Alert';
import { Name } from '@/components/Buyer';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import { looksLikeMail, plainUsername } from '@/vocabulary/username';
import { queuedWords, useDeliveryActions } from './actions';
import { useAsk } from './ask';
import { countsOf } from './counts';
import { useStay } from './onward';
import type { Delivery } from './types';
import styles from './panels.module.css';

type Props = {
  it: Delivery;
  button: string;
  asked?: boolean; // somebody has just asked for the field, so it takes the focus
  onCancel?: () => void; // leaves the username as it is, so only another one can be saved
};

export function UsernameForm({ it, button, asked, onCancel }: Props) {
  const tried = it.targetUsername ?? '';
  const [name, setName] = useState(tried);
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const ask = useAsk();
  const stay = useStay();
  const field = useRef<HTMLInputElement>(null);
  const act = useDeliveryActions(it);
  useEffect(() => {
    if (asked) field.current?.focus();
    field.current?.select();
  }, [asked]);
  useShortcuts({ e: () => field.current?.focus() });
  // After an attempt with another name elsewhere the field follows, unless somebody is typing in it.
  const [shown, setShown] = useState(tried);
  if (shown !== tried) {
    setShown(tried);
    if (name === shown) setName(tried);
  }

  const next = plainUsername(name);
  const save = async () => {
    toast(queuedWords(await act('retry', { targetUsername: next })));
  };
  const failed = (failure: unknown) => {
    stay();
    setError(failure);
  };
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!next) return failed(new Error(t('fix.empty')));
    if (looksLikeMail(next)) return failed(new Error(t('fix.mail')));
    if (onCancel && next.toLowerCase() === tried.toLowerCase()) return failed(new Error(t('fix.same')));
    if (countsOf(it).kept > 0 && next.toLowerCase() !== tried.toLowerCase()) {
      stay();
      return ask({ what: 'instead', to: next });
    }
    if (!begin()) return;
    setError(undefined);
    await save().catch(failed);
    end();
  }
  const typed =
    it.rawUsername !== null && it.rawUsername !== '' && it.rawUsername !== name && it.usernameSource === 'store';
  const problem = problemsOf(error).targetUsername;
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <div className={styles.line}>
        <TextInput
          ref={field}
          className={styles.field}
          label={t('fix.username')}
          leftSection={<span className="quiet">{'@'}</span>}
          autoComplete="off"
          spellCheck={false}
          autoCapitalize="none"
          maxLength={200}
          size="md"
          value={name}
          error={problem}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="filled"
          size="md"
          leftSection={<IconRefresh size={16} />}
          aria-disabled={busy || undefined}
        >
          {busy ? t('action.saving') : button}
        </Button>
        {onCancel ? (
          <Button size="md" variant="subtle" onClick={onCancel}>
            {t('action.cancel')}
          </Button>
        ) : null}
      </div>
      {typed ? (
        <p className={styles.hint}>
          <T k="fix.typed" values={{ typed: <Name>{it.rawUsername ?? ''}</Name> }} />
        </p>
      ) : null}
      {error && !problem ? (
        <Alert>
          {error instanceof Error && [t('fix.empty'), t('fix.mail'), t('fix.same')].includes(error.message)
            ? error.message
            : sentence(error)}
        </Alert>
      ) : null}
    </form>
  );
}
