import '@/i18n/en/stores';
import { Button, Switch, TagsInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, ok } from '@/api/client';
import { problemsOf, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { ConfirmDialog } from '@/components/Dialogs';
import { Loaded } from '@/components/States';
import { toast } from '@/components/toasts';
import { useUnsaved } from '@/components/unsaved';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import styles from './store.module.css';

const route = getRouteApi('/inside/integrations/stores/$id/settings');

export function Settings() {
  const { id } = route.useParams();
  const read = useQuery(queries.store(id));
  return (
    <Loaded read={read} what={t('stores.what')}>
      {(it) => (
        <>
          <Form key={it.version} it={it} />
          {it.archivedAt === null ? <Archive it={it} /> : null}
        </>
      )}
    </Loaded>
  );
}

function Form({ it }: { it: Store }) {
  const [name, setName] = useState(it.name);
  const [settings, setSettings] = useState(it.settings);
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const changed = name.trim() !== it.name || JSON.stringify(settings) !== JSON.stringify(it.settings);
  const guard = useUnsaved(changed && !busy);
  const problems = problemsOf(error);
  const set = (change: Partial<Store['settings']>) => setSettings({ ...settings, ...change });
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      await ok(
        api.PATCH('/api/integrations/{integration}', {
          params: { path: { integration: it.id } },
          body: { name: name.trim(), settings },
        }),
      );
      toast(t('settings.saved'));
      await client.invalidateQueries({ queryKey: ['stores'] });
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  const noEnds =
    it.provider === 'provider_a' &&
    it.lastOrderAt !== null &&
    !it.topicsSeen.some((topic) => /cancel|refund/.test(topic));
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label={t('settings.name')}
        size="md"
        maxLength={100}
        value={name}
        error={problems.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Switch
        label={t('settings.hold')}
        description={t('settings.holdHint')}
        checked={settings.hold === 'all'}
        onChange={(event) => set({ hold: event.currentTarget.checked ? 'all' : 'none' })}
      />
      <Switch
        label={t('settings.test')}
        description={t('settings.testHint')}
        checked={settings.deliverTestOrders}
        onChange={(event) => set({ deliverTestOrders: event.currentTarget.checked })}
      />
      <Switch
        label={t('settings.revoke')}
        description={t(noEnds && settings.autoRevoke ? 'settings.revokeNoTopic' : 'settings.revokeHint')}
        checked={settings.autoRevoke}
        onChange={(event) => set({ autoRevoke: event.currentTarget.checked })}
      />
      <Switch
        label={t('settings.key')}
        description={t('settings.keyHint')}
        checked={settings.requireApiKey}
        onChange={(event) => set({ requireApiKey: event.currentTarget.checked })}
      />
      <TagsInput
        label={t('settings.fields')}
        description={t('settings.fieldsHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        maxTags={20}
        value={settings.usernameFields}
        error={problems['settings.usernameFields']}
        onChange={(usernameFields) => set({ usernameFields })}
      />
      {error ? <Alert>{sentence(error)}</Alert> : null}
      <div>
        <Button
          type="submit"
          variant="filled"
          size="md"
          disabled={!changed || !name.trim()}
          aria-disabled={busy || undefined}
        >
          {busy ? t('action.saving') : t('action.save')}
        </Button>
      </div>
      {guard}
    </form>
  );
}

function Archive({ it }: { it: Store }) {
  const [asked, setAsked] = useState(false);
  const [typed, setTyped] = useState('');
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <div className={styles.danger}>
      <div>
        <h2>{t('settings.archive')}</h2>
        <p className="muted">{t('settings.archiveHint')}</p>
      </div>
      <Button onClick={() => setAsked(true)}>{t('settings.archive.open')}</Button>
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title={t('settings.archive.title', { name: it.name })}
        body={t('settings.archive.body')}
        button={t('settings.archive')}
        danger
        ready={typed.trim() === it.name.trim()}
        onConfirm={async () => {
          await ok(api.DELETE('/api/integrations/{integration}', { params: { path: { integration: it.id } } }));
          toast(t('settings.archived', { name: it.name }));
          await client.invalidateQueries({ queryKey: ['stores'] });
          await navigate({ to: '/integrations/stores', search: {} });
        }}
      >
        <TextInput
          label={t('settings.name')}
          size="md"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
      </ConfirmDialog>
    </div>
  );
}
