// WooCommerce: the merchant pastes our secret into it.
import '@/i18n/en/store_kinds';
import { T } from '@/i18n/text';
import type { StoreKind } from './kind';
import { Address, OtherEvents, OurSecret, shopWords } from './parts';

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
  sendsToken: false,
  sendsTests: false,
  sendsEnds: true,
  hasWebhooksForEnds: false,
  webhooks: WEBHOOKS,
  topics: [
    ['order.created', 'steps.word.topic'],
    ['order.updated', 'steps.word.updated'],
    ['order.deleted', 'steps.word.deleted'],
    ['order.restored', 'steps.word.restored'],
  ],
  checks: ['check.address', 'check.event', 'check.format', 'check.paid', 'check.active'],
  checksOfBody: ['check.event', 'check.format'],
  snippet: SNIPPET,
  snippetHint: 'shopField.woocommerce',
  steps: (props) => [
    <T k="steps.woocommerce.1" values={shopWords('woo', 'settings', 'advanced', 'webhooks')} />,
    <div>
      <T k="steps.woocommerce.2" values={shopWords('add', 'active', 'topic')} />
      <Address it={props.it} />
    </div>,
    <div>
      <T k={props.secret === null ? 'steps.woocommerce.3.kept' : 'steps.woocommerce.3'} values={shopWords('secret')} />
      <OurSecret {...props} />
    </div>,
    <OtherEvents
      says={<T k="steps.woocommerce.4" values={shopWords('secret')} />}
      events={WEBHOOKS.others}
      secret={props.secret}
    />,
  ],
  proof: () => <T k="steps.woocommerce.5" values={shopWords('processing')} />,
};
