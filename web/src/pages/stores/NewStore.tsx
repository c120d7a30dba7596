// A new store: its kind and name, then the steps in the shop, then the first order heard.
import '@/i18n/en/stores';
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { PageHeader } from '@/components/PageHeader';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { ConnectSteps } from '../store/ConnectSteps';
import { CHOICES, type Choice } from '../store/kinds/kinds';
import { Listening } from '../store/Listening';
import styles from './stores.module.css';

export function NewStore() {
  const [made, setMade] = useState<Schemas['IntegrationWithSecret'] | null>(null);
  return (
    <div className={styles.page}>
      <PageHeader
        title={made ? t('newStore.connect', { name: made.name }) : t('newStore.title')}
        lead={t('newStore.lead')}
        crumbs={[{ label: t('stores.title'), to: '/integrations/stores' }, { label: t('newStore.title') }]}
      />
      {made ? <After made={made} /> : <StoreForm onMade={setMade} onCancel="/integrations/stores" />}
    </div>
  );
}

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

function After({ made }: { made: Schemas['IntegrationWithSecret'] }) {
  const { secret: first, ...it } = made;
  const [secret, setSecret] = useState<string | null>(first);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1} className={styles.after}>
      <ConnectSteps it={it} secret={secret} onSecret={setSecret} />
      <Listening id={it.id} />
      <div className={styles.actions}>
        <Button component={Link} to={`/integrations/stores/${it.id}/products`} variant="filled" size="md">
          {t('newStore.done')}
        </Button>
      </div>
    </div>
  );
}
