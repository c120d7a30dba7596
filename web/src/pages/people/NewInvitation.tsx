import '@/i18n/en/people';
import { Button, Select, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { Dialog } from '@/components/Dialogs';
import tick from '@/components/Tick.module.css';
import { useFailure } from '@/components/useFailure';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { ROLES, roleWord } from './roles';
import styles from './people.module.css';

const DAYS = [1, 7, 30];
const USUAL_DAYS = 7; // the service's default
const DAY_MS = 86_400_000;
const SLACK_MS = 10 * 60_000; // this clock may be fast, and 30 days are the most

type Props = { onClose: () => void; onMade: (it: Schemas['CreatedInvitation']) => void };

export function NewInvitation({ onClose, onMade }: Props) {
  return (
    <Dialog opened onClose={onClose} title={t('invitations.invite')}>
      <Form onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

function Form({ onClose, onMade }: Props) {
  const [role, setRole] = useState<Schemas['Role']>('member');
  const [note, setNote] = useState('');
  const [days, setDays] = useState(USUAL_DAYS);
  const { busy, begin, end } = useSubmit();
  const { error, fail, clear } = useFailure(t('invitations.make'));
  const problems = problemsOf(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    clear();
    const expiresAt = new Date(Date.now() + days * DAY_MS - SLACK_MS).toISOString();
    const body = { role, note: note.trim() || null, ...(days === USUAL_DAYS ? {} : { expiresAt }) };
    try {
      onMade(await ok(api.POST('/api/invitations', { body })));
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <p className="muted">{t('invitations.new.lead')}</p>
      <fieldset className={styles.roles}>
        <legend>{t('invitations.new.role')}</legend>
        <div>
          {ROLES.map((one) => (
            <label key={one}>
              <input
                className={tick.tick}
                type="radio"
                name="role"
                checked={one === role}
                onChange={() => setRole(one)}
              />
              <span>
                <span className="strong">{roleWord(one)}</span>
                <span className="muted">{t(`role.${one}.may`)}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <TextInput
        label={t('invitations.new.note')}
        description={t('invitations.new.noteHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        maxLength={100}
        autoComplete="off"
        value={note}
        error={problems.note}
        onChange={(event) => setNote(event.currentTarget.value)}
        data-autofocus
      />
      <Select
        label={t('invitations.new.until')}
        size="md"
        data={DAYS.map((n) => ({ value: String(n), label: t('invitations.days', { count: n }) }))}
        value={String(days)}
        onChange={(value) => setDays(Number(value ?? USUAL_DAYS))}
        error={problems.expiresAt}
      />
      <FormError error={error} />
      <div className={styles.buttons}>
        <Button size="lg" onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button size="lg" type="submit" variant="filled" aria-disabled={busy || undefined}>
          {busy ? t('action.working') : t('invitations.make')}
        </Button>
      </div>
    </form>
  );
}
