// WooCommerce: the merchant pastes our secret into it.
import '@/i18n/en/store_kinds';
import { t, T } from '@/i18n/text';
import type { StoreKind } from './kind';
import { Address, OtherEvents, OurSecret, shopWord } from './parts';

const SNIPPET = `add_action( 'woocommerce_init', function () {
	woocommerce_register_additional_checkout_field( array(
		'id'         => 'presets/vendor_username',
		'label'      => 'Your cloud username',
		'location'   => 'order',
		'type'       => 'text',
		'required'   => true,
		'attributes' => array( 'autocomplete' => 'off', 'maxLength' => 200 ),
	) );
} );
add_action( 'woocommerce_set_additional_field_value', function ( $field, $value, $group, $target ) {
	if ( 'presets/vendor_username' === $field && $target instanceof WC_Order ) {
		$target->update_meta_data( 'vendor_username', $value );
	}
}, 10, 4 );`;

const WEBHOOKS = {
  first: 'steps.word.topic',
  others: [
    ['steps.word.updated', 'steps.why.updated'],
    ['steps.word.deleted', 'steps.why.deleted'],
    ['steps.word.restored', 'steps.why.restored'],
  ],
} as const;

export const woocommerce: StoreKind = {
  name: 'shop.WooCommerce',
  hint: 'shopHint.woocommerce',
  dictatesSecret: false,
  hasWebhooksForEnds: false,
  webhooks: WEBHOOKS,
  usernameField: 'vendor_username',
  snippet: SNIPPET,
  snippetHint: 'shopField.woocommerce',
  steps: (props) => [
    <T
      key="1"
      k="steps.woocommerce.1"
      values={{
        woo: shopWord('steps.word.woo'),
        settings: shopWord('steps.word.settings'),
        advanced: shopWord('steps.word.advanced'),
        webhooks: shopWord('steps.word.webhooks'),
      }}
    />,
    <div key="2">
      <T
        k="steps.woocommerce.2"
        values={{
          add: shopWord('steps.word.add'),
          active: shopWord('steps.word.active'),
          topic: shopWord(WEBHOOKS.first),
        }}
      />
      <Address it={props.it} />
    </div>,
    <div key="3">
      <T k="steps.woocommerce.3" values={{ secret: shopWord('steps.word.secret') }} />
      <OurSecret {...props} />
    </div>,
    <OtherEvents key="4" says={t('steps.woocommerce.4')} events={WEBHOOKS.others} />,
    <T key="5" k="steps.woocommerce.5" values={{ processing: shopWord('steps.word.processing') }} />,
  ],
};
