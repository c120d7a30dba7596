// How to connect a store, in the shop's own words. `secret`: ours, the one time that it is known.
import '@/i18n/en/stores';
import { Button, PasswordInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, ok } from '@/api/client';
import { problemsOf, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { CopyField } from '@/components/Copy';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t, T, type TextKey } from '@/i18n/text';
import { dictatesSecret, type Store } from '@/vocabulary/store';
import { usePasswordToggle } from '../sign-in/parts';
import { RotateSecret } from './RotateSecret';
import { SHOP_WEBHOOKS } from './shop_webhooks';
import styles from './steps.module.css';

const SAMPLE = '{"orderId":"A-1001","targetUsername":"jane","items":[{"sku":"TONE-1"}]}';
const name = (key: Extract<TextKey, `steps.word.${string}`>) => <strong>{t(key)}</strong>;

// `onSecret`: receives a new secret, where one can be made here.
type Props = { it: Store; secret: string | null; onSecret?: (secret: string) => void };

function Secret({ it, secret, onSecret }: Props) {
  if (secret !== null)
    return (
      <>
        <CopyField label={t('connection.secret')} value={secret} />
        <p className={styles.note}>{t('steps.secretNow')}</p>
      </>
    );
  return (
    <div className={styles.saved}>
      <p className={styles.note}>{t('steps.secretKept', { preview: it.secretPreview })}</p>
      {onSecret ? <RotateSecret it={it} onSecret={onSecret} /> : null}
    </div>
  );
}

type Events = (typeof SHOP_WEBHOOKS)[keyof typeof SHOP_WEBHOOKS]['others'];

function Others({ says, events }: { says: string; events: Events }) {
  return (
    <>
      {says}
      <ul className={styles.events}>
        {events.map(([event, why]) => (
          <li key={event}>
            {name(event)} <span className="muted">{t(why)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

export function ConnectSteps({ it, secret, onSecret }: Props) {
  const address = <CopyField label={t('connection.address')} value={it.webhookUrl} />;
  let steps: ReactNode[];
  if (dictatesSecret(it)) {
    steps = [
      <T
        key="1"
        k="steps.shopify.1"
        values={{
          settings: name('steps.word.settings'),
          notifications: name('steps.word.notifications'),
          webhooks: name('steps.word.webhooks'),
        }}
      />,
      <div key="2">
        <T
          k="steps.shopify.2"
          values={{
            create: name('steps.word.create'),
            event: name(SHOP_WEBHOOKS.shopify.first),
            json: name('steps.word.json'),
          }}
        />
        {address}
      </div>,
      <div key="3">
        {t('steps.shopify.3')}
        <ShopSecret it={it} />
      </div>,
      <Others key="4" says={t('steps.shopify.4')} events={SHOP_WEBHOOKS.shopify.others} />,
      <T key="5" k="steps.shopify.5" values={{ test: name('steps.word.test') }} />,
    ];
  } else if (it.provider === 'provider_b') {
    steps = [
      <T
        key="1"
        k="steps.woocommerce.1"
        values={{
          woo: name('steps.word.woo'),
          settings: name('steps.word.settings'),
          advanced: name('steps.word.advanced'),
          webhooks: name('steps.word.webhooks'),
        }}
      />,
      <div key="2">
        <T
          k="steps.woocommerce.2"
          values={{
            add: name('steps.word.add'),
            active: name('steps.word.active'),
            topic: name(SHOP_WEBHOOKS.woocommerce.first),
          }}
        />
        {address}
      </div>,
      <div key="3">
        <T k="steps.woocommerce.3" values={{ secret: name('steps.word.secret') }} />
        <Secret it={it} secret={secret} onSecret={onSecret} />
      </div>,
      <Others key="4" says={t('steps.woocommerce.4')} events={SHOP_WEBHOOKS.woocommerce.others} />,
      <T key="5" k="steps.woocommerce.5" values={{ processing: name('steps.word.processing') }} />,
    ];
  } else {
    steps = [
      <div key="1">
        {t('steps.generic.1')}
        {address}
      </div>,
      <div key="2">
        <T k="steps.generic.2" values={{ header: <code>{'X-Webhook-Signature: sha256=…'}</code> }} />
        <Secret it={it} secret={secret} onSecret={onSecret} />
      </div>,
      <div key="3">
        {t('steps.generic.3')}
        <CopyField label={t('steps.generic.3')} value={SAMPLE} />
      </div>,
    ];
  }
  return (
    <ol className={styles.steps}>
      {steps.map((step, index) => (
        <li key={index}>
          <span className={styles.number} aria-hidden="true">
            {String.fromCharCode(97 + index)}
          </span>
          <div className={styles.step}>{step}</div>
        </li>
      ))}
    </ol>
  );
}

// The secret that the shop signs with. It is never shown again.
function ShopSecret({ it }: { it: Store }) {
  const [secret, setSecret] = useState('');
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  const toggle = usePasswordToggle();
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    setError(undefined);
    try {
      // The former secret was ours, and nobody signs with it.
      await ok(
        api.POST('/api/integrations/{integration}/rotate-secret', {
          params: { path: { integration: it.id } },
          body: { secret: secret.trim(), overlapSeconds: it.lastOrderAt === null ? 0 : 86_400 },
        }),
      );
      setSecret('');
      toast(t('steps.secretSaved'));
      await client.invalidateQueries({ queryKey: queries.store(it.id).queryKey });
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <form className={styles.secret} onSubmit={(event) => void submit(event)}>
      <div className={styles.line}>
        <PasswordInput
          aria-label={t('steps.secretLabel')}
          autoComplete="off"
          size="md"
          minLength={16}
          maxLength={200}
          value={secret}
          error={problemsOf(error).secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          {...toggle}
        />
        <Button
          type="submit"
          variant="filled"
          size="md"
          disabled={secret.trim().length < 16}
          aria-disabled={busy || undefined}
        >
          {busy ? t('action.saving') : t('steps.secretSave')}
        </Button>
      </div>
      {error && !problemsOf(error).secret ? <Alert>{sentence(error)}</Alert> : null}
      <p className={styles.note}>{t('steps.secretHint')}</p>
    </form>
  );
}
