// The merchant's own website, which sends orders in our format.
import '@/i18n/en/store_kinds';
import { Link } from '@tanstack/react-router';
import { CopyField } from '@/components/Copy';
import { t, T } from '@/i18n/text';
import type { StoreKind } from './kind';
import { Address, OurSecret } from './parts';

const SAMPLE = '{"orderId":"A-1001","targetUsername":"jane","items":[{"sku":"TONE-1"}]}';

export const generic: StoreKind = {
  name: 'shop.generic',
  hint: 'shopHint.generic',
  dictatesSecret: false,
  sendsToken: true,
  hasWebhooksForEnds: false,
  webhooks: null,
  topics: [],
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
      <CopyField label={t('steps.generic.3')} value={SAMPLE} />
    </div>,
  ],
  proof: null,
};
