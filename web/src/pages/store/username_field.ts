// The field in which buyers enter their username, for each kind of shop: as in docs/guides/, and one that the
// service reads (docs/stores.md).
import type { Store } from '@/vocabulary/store';

const SHOPIFY = `{%- assign form_id = 'product-form-' | append: section.id -%}
<p>
  <label for="cloud-username-{{ section.id }}">Your cloud username</label><br>
  <input id="cloud-username-{{ section.id }}" form="{{ form_id }}" name="properties[Cloud username]" type="text" required
    maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false">
  <small>You find it on your profile in the app. It is not your e-mail address.</small>
</p>`;

const WOOCOMMERCE = `add_action( 'woocommerce_init', function () {
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

export const USERNAME_FIELDS: Record<Store['provider'], string> = {
  provider_a: SHOPIFY,
  provider_b: WOOCOMMERCE,
  generic: '"targetUsername": "jane"',
};
