// The merchant's own website, which sends orders in our format.
import '@/i18n/en/store_kinds';
import { Link } from '@tanstack/react-router';
import { t, T } from '@/i18n/text';
import { Snippet } from '../Snippet';
import styles from '../steps.module.css';
import type { StoreKind } from './kind';
import { Address, OurSecret } from './parts';

const SAMPLE = `{
  "orderId": "A-1001",
  "targetUsername": "jane",
  "items": [
    { "sku": "TONE-1" }
  ]
}`;

// The fields that the service reads of such an order (src/providers/generic/reader.cpp).
const FIELDS = [
  ['orderId', 'steps.generic.orderId'],
  ['targetUsername', 'steps.generic.targetUsername'],
  ['items', 'steps.generic.items'],
  ['sku, productId, title', 'steps.generic.product'],
  ['quantity', 'steps.generic.quantity'],
  ['customerEmail', 'steps.generic.customerEmail'],
] as const;

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
      <p className={styles.note}>{t('steps.generic.fields')}</p>
      <dl className={styles.fields}>
        {FIELDS.map(([field, says]) => (
          <div key={field}>
            <dt>
              <code>{field}</code>
            </dt>
            <dd>{t(says)}</dd>
          </div>
        ))}
      </dl>
    </div>,
    <div>
      <T
        k="steps.generic.answer"
        values={{ ok: <code>202</code>, bad: <code>400</code>, field: <code>targetUsername</code> }}
      />
      <p className={styles.note}>{t('steps.generic.never')}</p>
    </div>,
  ],
  proof: null,
};
