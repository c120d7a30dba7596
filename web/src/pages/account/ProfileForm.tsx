// The merchant's details that buyers see. An empty field removes the value.
import '@/i18n/en/profile';
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { FormError } from '@/components/FormError';
import { toast } from '@/components/toasts';
import { useUnsaved } from '@/components/unsaved';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import styles from './account.module.css';

type Account = Schemas['Account'];
const FIELDS = ['name', 'displayName', 'supportEmail', 'supportUrl'] as const;
type Draft = Record<(typeof FIELDS)[number], string>;
const draftOf = (it: Account): Draft => ({
  name: it.name,
  displayName: it.displayName ?? '',
  supportEmail: it.supportEmail ?? '',
  supportUrl: it.supportUrl ?? '',
});
const HINTS = {
  name: 'profile.nameHint',
  displayName: 'profile.displayNameHint',
  supportUrl: 'profile.supportUrlHint',
} as const;
const FORMS = {
  name: { autoComplete: 'organization', maxLength: 100 },
  displayName: { autoComplete: 'off', maxLength: 100 },
  supportEmail: { type: 'email', autoComplete: 'email', maxLength: 254 },
  supportUrl: { type: 'url', autoComplete: 'url', maxLength: 500 },
} as const;

export function ProfileForm({ it }: { it: Account }) {
  const [draft, setDraft] = useState(() => draftOf(it));
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const saved = draftOf(it);
  const changed = FIELDS.filter((field) => draft[field].trim() !== saved[field]);
  const guard = useUnsaved(changed.length > 0 && !busy);
  const problems = problemsOf(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      const body = Object.fromEntries(changed.map((field) => [field, draft[field].trim() || null]));
      const now = await ok(api.PATCH('/api/account', { body }));
      client.setQueryData(queries.account().queryKey, now);
      const typedSince = ([field, text]: [string, string]) => text !== draft[field as keyof Draft];
      setDraft((typed) => ({ ...draftOf(now), ...Object.fromEntries(Object.entries(typed).filter(typedSince)) }));
      toast(t('profile.saved'));
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form className={styles.part} noValidate onSubmit={(event) => void submit(event)}>
      <div>
        <h2>{t('profile.title')}</h2>
        <p className="muted">{t('profile.lead')}</p>
      </div>
      <div className={styles.fields}>
        {FIELDS.map((field) => (
          <TextInput
            key={field}
            label={t(`profile.${field}`)}
            description={field in HINTS ? t(HINTS[field as keyof typeof HINTS]) : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            size="md"
            {...FORMS[field]}
            placeholder={field === 'displayName' ? it.name : undefined}
            value={draft[field]}
            error={problems[field]}
            onChange={(event) => setDraft({ ...draft, [field]: event.currentTarget.value })}
          />
        ))}
        <FormError error={error} />
        <div>
          <Button
            type="submit"
            variant="filled"
            size="md"
            disabled={changed.length === 0 || !draft.name.trim()}
            aria-disabled={busy || undefined}
          >
            {busy ? t('action.saving') : t('action.save')}
          </Button>
        </div>
      </div>
      {guard}
    </form>
  );
}
