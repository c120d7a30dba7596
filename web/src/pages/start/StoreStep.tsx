// The first store: its kind and name, the steps in the shop's own words, its first order heard, and whether it has a username.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { problemsOf, sentence } from '@/api/errors';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { ConnectSteps } from '../store/ConnectSteps';
import { Listening } from '../store/Listening';
import { StoreForm } from '../stores/NewStore';
import { Username } from './lines';
import styles from './start.module.css';

type Props = { store: Store | undefined; onDone: () => void; onStore: (id: string) => void };

export function StoreStep({ store, onDone, onStore }: Props) {
  const [another, setAnother] = useState(false);
  const [secret, setSecret] = useState<{ of: string; text: string } | null>(null);
  const made = (it: Schemas['IntegrationWithSecret']) => {
    setSecret({ of: it.id, text: it.secret });
    // The step of a first store gives way to the next as its order arrives; it is not asked for.
    if (another) onStore(it.id);
    setAnother(false);
  };
  if (!store) return <StoreForm onMade={made} />;
  if (another)
    return (
      <div className={styles.parts}>
        <StoreForm onMade={made} />
        <div>
          <button type="button" className="link" onClick={() => setAnother(false)}>
            {t('action.cancel')}
          </button>
        </div>
      </div>
    );
  return (
    <div className={styles.parts}>
      <ConnectSteps
        it={store}
        secret={secret?.of === store.id ? secret.text : null}
        onSecret={(text) => setSecret(text === null ? null : { of: store.id, text })}
      />
      <Listening id={store.id} />
      <Username store={store} />
      {store.lastOrderAt ? (
        <div>
          <Button variant="filled" size="md" onClick={onDone}>
            {t('guide.goOn')}
          </Button>
        </div>
      ) : null}
      <div className={styles.line}>
        <Rename key={store.id} store={store} />
        <button type="button" className="link" onClick={() => setAnother(true)}>
          {t('guide.store.another')}
        </button>
      </div>
    </div>
  );
}

function Rename({ store }: { store: Store }) {
  const [name, setName] = useState<string | null>(null); // null: the field is closed
  const [error, setError] = useState<unknown>();
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  if (name === null)
    return (
      <button type="button" className="link" onClick={() => setName(store.name)}>
        {t('guide.store.rename')}
      </button>
    );
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      await ok(
        api.PATCH('/api/integrations/{integration}', {
          params: { path: { integration: store.id } },
          body: { name: name?.trim() ?? '' },
        }),
      );
      await client.invalidateQueries({ queryKey: ['stores'] });
      setName(null);
    } catch (failure) {
      setError(failure);
    }
    end();
  }
  return (
    <form className={styles.line} onSubmit={(event) => void submit(event)}>
      <TextInput
        className={styles.field}
        aria-label={t('guide.store.name')}
        size="md"
        maxLength={100}
        autoFocus
        value={name}
        error={error ? (problemsOf(error).name ?? sentence(error)) : undefined}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" size="md" disabled={!name.trim()} aria-disabled={busy || undefined}>
        {busy ? t('action.saving') : t('action.save')}
      </Button>
    </form>
  );
}
