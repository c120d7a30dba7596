// Shopify: it signs with a secret of its own.
import '@/i18n/en/store_kinds';
import { lazy, Suspense } from 'react';
import { t, T } from '@/i18n/text';
import type { StoreKind } from './kind';
import { Address, OtherEvents, SecretPlace, shopWords } from './parts';

// ShopSecret comes with the steps: pages without steps import the kinds of shops too.
const ShopSecret = lazy(() => import('./ShopSecret').then((part) => ({ default: part.ShopSecret })));

const SNIPPET = `{%- assign form_id = 'product-form-' | append: section.id -%}
<p>
  <label for="cloud-username-{{ section.id }}">Your cloud username</label><br>
  <input id="cloud-username-{{ section.id }}" form="{{ form_id }}" name="properties[Cloud username]" type="text" required
    maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false">
  <small>You find it on your profile in the app. It is not your e-mail address.</small>
</p>`;

const WEBHOOKS = {
  first: 'steps.word.event',
  others: [
    ['steps.word.update', 'steps.why.update'],
    ['steps.word.cancel', 'steps.why.cancel'],
    ['steps.word.refund', 'steps.why.refund'],
  ],
} as const;

export const shopify: StoreKind = {
  name: 'shop.Shopify',
  hint: 'shopHint.shopify',
  dictatesSecret: true,
  sendsToken: false,
  sendsTests: true,
  sendsEnds: true,
  hasWebhooksForEnds: true,
  webhooks: WEBHOOKS,
  topics: [
    ['orders/paid', 'steps.word.event'],
    ['orders/updated', 'steps.word.update'],
    ['orders/cancelled', 'steps.word.cancel'],
    ['refunds/create', 'steps.word.refund'],
  ],
  checks: ['check.address', 'check.secret', 'check.event', 'check.format', 'check.paid', 'check.active'],
  checksOfBody: ['check.event', 'check.format'],
  snippet: SNIPPET,
  snippetHint: 'shopField.shopify',
  steps: ({ it, beside }) => [
    <T k="steps.shopify.1" values={shopWords('settings', 'notifications', 'webhooks')} />,
    <div>
      <T k="steps.shopify.2" values={shopWords('create', 'event', 'json')} />
      <Address it={it} />
    </div>,
    beside ? (
      <div>
        <T k="steps.shopify.3.beside" values={{ place: <SecretPlace it={it} /> }} />
      </div>
    ) : (
      <div>
        {t('steps.shopify.3')}
        <Suspense>
          <ShopSecret it={it} />
        </Suspense>
      </div>
    ),
    <OtherEvents says={t('steps.shopify.4')} events={WEBHOOKS.others} />,
  ],
  proof: () => <T k="steps.shopify.5" values={shopWords('test')} />,
};
