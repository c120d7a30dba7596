// A new store: its kind and name, then the steps in the shop, then the first order heard.
import '@/i18n/en/stores';
import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { isMissing, problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { FormError } from '@/components/FormError';
import { PageHeader } from '@/components/PageHeader';
import { Loaded } from '@/components/States';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { Missing } from '../missing/Missing';
import { changed, storeOf } from '../search';
import { Username } from '../start/lines';
import { ConnectSteps } from '../store/ConnectSteps';
import { CHOICES, type Choice } from '../store/kinds/kinds';
import { Listening } from '../store/Listening';
import styles from './stores.module.css';

const route = getRouteApi('/inside/integrations/stores/new');

// `store` of the address is the store that was made: a reload shows its guide again.
export function NewStore() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const id = storeOf(search);
  const [secret, setSecret] = useState<Shown | null>(null);
  const client = useQueryClient();
  // It is shown once: a way back to the guide does not show it again.
  useEffect(() => (id ? () => setSecret(null) : undefined), [id]);
  if (id) return <Guide key={id} id={id} secret={secret?.of === id ? secret.text : null} onSecret={setSecret} />;
  const made = ({ secret: text, ...store }: Schemas['IntegrationWithSecret']) => {
    setSecret({ of: store.id, text });
    client.setQueryData(queries.store(store.id).queryKey, store);
    void navigate({ search: changed(search, { store: store.id }), replace: true });
  };
  return (
    <Page title={t('newStore.title')}>
      <StoreForm onMade={made} onCancel="/integrations/stores" />
    </Page>
  );
}

const Page = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className={styles.page}>
    <PageHeader
      title={title}
      lead={t('newStore.lead')}
      crumbs={[{ label: t('stores.title'), to: '/integrations/stores' }, { label: t('newStore.title') }]}
    />
    {children}
  </div>
);

type FormProps = { onMade: (store: Schemas['IntegrationWithSecret']) => void; onCancel?: string };

export function StoreForm({ onMade, onCancel }: FormProps) {
  const [provider, setProvider] = useState<Choice>('shopify');
  const [name, setName] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      const made = await ok(api.POST('/api/integrations', { body: { name: name.trim(), provider } }));
      void client.invalidateQueries({ queryKey: ['stores'] });
      onMade(made);
    } catch (failure) {
      setError(failure);
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <fieldset className={styles.kinds}>
        <legend>{t('newStore.kind')}</legend>
        {(Object.keys(CHOICES) as Choice[]).map((kind) => (
          <label key={kind} className={styles.kind}>
            <input
              type="radio"
              name="kind"
              value={kind}
              checked={provider === kind}
              onChange={() => setProvider(kind)}
            />
            <strong>{t(CHOICES[kind].name)}</strong>
            <span>{t(CHOICES[kind].hint)}</span>
          </label>
        ))}
      </fieldset>
      <TextInput
        label={t('newStore.name')}
        description={t('newStore.nameHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        maxLength={100}
        value={name}
        error={problemsOf(error).name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <FormError error={error} />
      <div className={styles.actions}>
        <Button type="submit" variant="filled" size="md" disabled={!name.trim()} aria-disabled={busy || undefined}>
          {busy ? t('action.working') : t('newStore.create')}
        </Button>
        {onCancel ? (
          <Button component={Link} to={onCancel} size="md">
            {t('action.cancel')}
          </Button>
        ) : null}
      </div>
    </form>
  );
}

type Shown = { of: string; text: string };
type GuideProps = { id: string; secret: string | null; onSecret: (secret: Shown | null) => void };

function Guide({ id, secret, onSecret }: GuideProps) {
  const read = useQuery(queries.store(id));
  if (isMissing(read.error)) return <Missing body={t('store.missing')} />;
  return (
    <Loaded read={read} page what={t('stores.what')}>
      {(it) =>
        it.archivedAt === null ? (
          <Page title={t('newStore.connect', { name: it.name })}>
            <Steps it={it} secret={secret} onSecret={(text) => onSecret(text === null ? null : { of: id, text })} />
          </Page>
        ) : (
          <Navigate to="/integrations/stores/$id" params={{ id }} replace />
        )
      }
    </Loaded>
  );
}

type StepsProps = { it: Store; secret: string | null; onSecret: (secret: string | null) => void };

function Steps({ it, secret, onSecret }: StepsProps) {
  const place = useRef<HTMLDivElement>(null);
  const [fresh] = useState(secret !== null); // the store was made just now, in the form that was here
  useEffect(() => {
    if (fresh) place.current?.focus();
  }, [fresh]);
  return (
    <div ref={place} tabIndex={-1} className={styles.after}>
      <ConnectSteps it={it} secret={secret} onSecret={onSecret} />
      <div className={styles.heard}>
        <Listening id={it.id} />
        <Username store={it} />
      </div>
      <div className={styles.actions}>
        <Button component={Link} to={`/integrations/stores/${it.id}/products`} variant="filled" size="md">
          {t('newStore.done')}
        </Button>
      </div>
    </div>
  );
}
