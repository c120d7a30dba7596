// The merchant's own website, which sends orders in our format.
import '@/i18n/en/store_kinds';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { t, T } from '@/i18n/text';
import { Snippet } from '../Snippet';
import type { StoreKind } from './kind';
import { Address, OurSecret } from './parts';

const SAMPLE = `{
  "orderId": "A-1001",
  "targetUsername": "jane",
  "items": [
    { "sku": "TONE-1" }
  ]
}`;

// They come with their texts: pages without steps import the kinds of shops too.
const Fields = lazy(() => import('./OwnOrder').then((part) => ({ default: part.Fields })));
const Answers = lazy(() => import('./OwnOrder').then((part) => ({ default: part.Answers })));

export const generic: StoreKind = {
  name: 'shop.generic',
  hint: 'shopHint.generic',
  dictatesSecret: false,
  sendsToken: true,
  sendsTests: false,
  sendsEnds: false,
  hasWebhooksForEnds: false,
  webhooks: null,
  topics: [],
  checks: ['check.own.address', 'check.own.reach', 'check.own.paid', 'check.own.answer'],
  checksOfBody: ['check.own.body', 'check.own.fields'],
  snippet: '"targetUsername": "jane"',
  snippetHint: 'shopField.generic',
  steps: (props) => [
    <div>
      {t('steps.generic.1')}
      <Address it={props.it} />
    </div>,
    <div>
      <T k="steps.generic.2" values={{ header: <code>{'X-Webhook-Signature: sha256=…'}</code> }} />
      <OurSecret {...props} />
    </div>,
    ...(props.it.settings.requireApiKey
      ? [
          <div>
            <T
              k="steps.generic.token"
              values={{
                header: <code>{'X-API-Key: pdb_live_…'}</code>,
                tokens: (
                  <Link className="link" to="/keys">
                    {t('nav.keys')}
                  </Link>
                ),
              }}
            />
          </div>,
        ]
      : []),
    <div>
      {t('steps.generic.3')}
      <Snippet code={SAMPLE} label={t('steps.generic.3')} />
      <Suspense>
        <Fields />
      </Suspense>
    </div>,
    <div>
      <Suspense>
        <Answers />
      </Suspense>
    </div>,
  ],
  proof: null,
};
