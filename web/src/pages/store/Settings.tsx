// The settings of a store, and its end.
import '@/i18n/en/stores';
import { Button, Switch, TagsInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, ok } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { FormError } from '@/components/FormError';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { Loaded } from '@/components/States';
import { toast } from '@/components/toasts';
import { useUnsaved } from '@/components/unsaved';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { isTyped } from '@/i18n/typed';
import type { Store } from '@/vocabulary/store';
import { kindFor, neverSentEnds } from './kinds/kinds';
import styles from './store.module.css';

const RequireToken = lazy(() => import('./RequireToken').then((part) => ({ default: part.RequireToken })));

const route = getRouteApi('/inside/integrations/stores/$id/settings');

export function Settings() {
  const { id } = route.useParams();
  const read = useQuery(queries.store(id));
  return (
    <Loaded read={read} what={t('stores.what')}>
      {(it) => (
        <>
          <Form key={it.id} it={it} />
          {it.archivedAt === null ? <Archive it={it} /> : null}
        </>
      )}
    </Loaded>
  );
}

type Fields = Store['settings'] & { name: string };

// The fields that are not as the service has them.
const differing = (draft: Partial<Fields>, saved: Fields): Partial<Fields> =>
  Object.fromEntries(Object.entries(draft).filter(([field, value]) => !isEqual(value, saved[field as keyof Fields])));
const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

// The draft has the fields that were changed here; all others are shown as the service has them, and follow it.
function Form({ it }: { it: Store }) {
  const saved: Fields = { ...it.settings, name: it.name };
  const [draft, setDraft] = useState<Partial<Fields>>({});
  const { name, ...settings } = { ...saved, ...draft };
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const change = differing({ ...draft, name: name.trim() }, saved);
  const changed = Object.keys(change).length > 0;
  const guard = useUnsaved(changed && !busy);
  const problems = problemsOf(error);
  const set = (next: Partial<Fields>) => setDraft((now) => differing({ ...now, ...next }, saved));
  const kind = kindFor(it);
  const [asks, setAsks] = useState(false);
  // Orders that come already carry a token nowhere, or perhaps not: they would be refused, and lost.
  const loses = change.requireApiKey === true && (!kind.sendsToken || it.lastOrderAt !== null);
  async function submit() {
    if (!begin()) return;
    setError(undefined);
    try {
      const { name: newName, ...newSettings } = change;
      const next = await ok(
        api.PATCH('/api/integrations/{integration}', {
          params: { path: { integration: it.id } },
          body: { ...(newName === undefined ? {} : { name: newName }), settings: newSettings },
        }),
      );
      client.setQueryData(queries.store(it.id).queryKey, next);
      setDraft((now) => differing({ ...saved, ...now }, { ...saved, ...draft })); // leaves what was typed since
      toast(t('settings.saved'));
      await client.invalidateQueries({ queryKey: ['stores'] });
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (loses) setAsks(true);
          else void submit();
        }}
      >
        <TextInput
          label={t('settings.name')}
          size="md"
          maxLength={100}
          value={name}
          error={problems.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <Switch
          label={t('settings.hold')}
          description={t('settings.holdHint')}
          checked={settings.hold === 'all'}
          onChange={(event) => set({ hold: event.currentTarget.checked ? 'all' : 'none' })}
        />
        {kind.sendsTests || saved.deliverTestOrders ? (
          <Switch
            label={t('settings.test')}
            description={t(kind.sendsTests ? 'settings.testHint' : 'settings.testNever')}
            checked={settings.deliverTestOrders}
            onChange={(event) => set({ deliverTestOrders: event.currentTarget.checked })}
          />
        ) : null}
        {kind.sendsEnds || saved.autoRevoke ? (
          <Switch
            label={t('settings.revoke')}
            description={t(
              !kind.sendsEnds
                ? 'settings.revokeNever'
                : settings.autoRevoke && neverSentEnds(it)
                  ? 'settings.revokeNoTopic'
                  : 'settings.revokeHint',
            )}
            checked={settings.autoRevoke}
            onChange={(event) => set({ autoRevoke: event.currentTarget.checked })}
          />
        ) : null}
        <Switch
          label={t('settings.key')}
          description={
            settings.requireApiKey && !kind.sendsToken ? (
              <span className="red">{t('settings.keyNever', { shop: t(kind.name) })}</span>
            ) : (
              t('settings.keyHint')
            )
          }
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
        <FormError error={error} />
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
      {asks ? (
        <Suspense>
          <RequireToken it={it} onConfirm={submit} onClose={() => setAsks(false)} />
        </Suspense>
      ) : null}
    </>
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
        onClose={() => {
          setAsked(false);
          setTyped('');
        }}
        title={t('settings.archive.title', { name: it.name })}
        body={t('settings.archive.body')}
        button={t('settings.archive')}
        danger
        ready={isTyped(typed, it.name)}
        onConfirm={async () => {
          await ok(api.DELETE('/api/integrations/{integration}', { params: { path: { integration: it.id } } }));
          toast(t('settings.archived', { name: it.name }));
          await client.invalidateQueries({ queryKey: ['stores'] });
          await navigate({ to: '/integrations/stores', search: {} });
        }}
      >
        <TextInput
          label={<T k="settings.archive.type" values={{ name: <Bdi className="strong">{it.name}</Bdi> }} />}
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
