// The form for a new outbound webhook, or for a change of an existing one.
import '@/i18n/en/webhooks';
import { Button, MultiSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { ApiError, problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { FormError } from '@/components/FormError';
import { useFailure } from '@/components/useFailure';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { signInConfig } from '@/session/config';
import { EVENT_TYPES, type EventType } from '@/vocabulary/webhook';
import styles from './webhooks.module.css';

type Props = {
  it?: Schemas['Subscription']; // to change; absent: a new one is made
  onMade?: (made: Schemas['SubscriptionWithSecret']) => void;
  onChanged?: () => void;
  onCancel: () => void;
};

// The service says which addresses it accepts, and after a semicolon its fault with this one.
function urlProblem(problem: string, url: string, sandbox: boolean): string {
  if (!(sandbox ? /^https?:/i : /^https:/i).test(url)) return t('newWebhook.urlHttps');
  const [, fault] = problem.split(/; (.*)/s);
  return fault ? t('newWebhook.urlFault', { fault }) : problem;
}

// The refusal with our words about the address.
function withUrlProblem(failure: unknown, url: string, sandbox: boolean): unknown {
  if (!(failure instanceof ApiError)) return failure;
  const details = failure.details.map((one) =>
    one.field === 'url' ? { ...one, problem: urlProblem(one.problem, url, sandbox) } : one,
  );
  return new ApiError(
    failure.status,
    failure.code,
    failure.message,
    details,
    failure.requestId,
    failure.retryAfterSeconds,
  );
}

export function SubscriptionForm({ it, onMade, onChanged, onCancel }: Props) {
  const stores = useQuery(queries.stores());
  const sandbox = useQuery(signInConfig()).data?.sandbox ?? false;
  const [url, setUrl] = useState(it?.url ?? '');
  const [name, setName] = useState(it?.name ?? '');
  const [eventTypes, setTypes] = useState<string[]>(it?.eventTypes ?? []);
  const [integrationIds, setStores] = useState<string[]>(it?.integrationIds ?? []);
  const { busy, begin, end } = useSubmit();
  const { error, fail, clear } = useFailure(t(it ? 'action.save' : 'newWebhook.button'));
  const problems = problemsOf(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    clear();
    const body = { url: url.trim(), name: name.trim(), eventTypes: eventTypes as EventType[], integrationIds };
    try {
      if (it) {
        await ok(
          api.PATCH('/api/webhook-subscriptions/{subscription}', { params: { path: { subscription: it.id } }, body }),
        );
        onChanged?.();
      } else {
        onMade?.(await ok(api.POST('/api/webhook-subscriptions', { body })));
      }
    } catch (failure) {
      fail(withUrlProblem(failure, body.url, sandbox));
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label={t('newWebhook.url')}
        description={t(sandbox ? 'newWebhook.urlHintSandbox' : 'newWebhook.urlHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        type="url"
        size="md"
        maxLength={2000}
        value={url}
        error={problems.url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label={t('newWebhook.name')}
        description={t('newWebhook.nameHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        maxLength={100}
        value={name}
        error={problems.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <MultiSelect
        label={t('newWebhook.events')}
        description={t('newWebhook.eventsHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        data={EVENT_TYPES}
        value={eventTypes}
        error={problems.eventTypes}
        onChange={setTypes}
      />
      <MultiSelect
        label={t('newWebhook.stores')}
        description={t('newWebhook.storesHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        data={(stores.data?.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
        value={integrationIds}
        error={problems.integrationIds}
        onChange={setStores}
      />
      <FormError error={error} />
      <div className={styles.buttons}>
        <Button size="lg" onClick={onCancel}>
          {t('action.cancel')}
        </Button>
        <Button size="lg" type="submit" variant="filled" disabled={!url.trim()} aria-disabled={busy || undefined}>
          {busy ? t('action.saving') : it ? t('action.save') : t('newWebhook.button')}
        </Button>
      </div>
    </form>
  );
}
