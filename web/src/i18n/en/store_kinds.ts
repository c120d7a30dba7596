import { addWords } from '../words';

// The kinds of shops, in their own words.
export const store_kinds = {
  'shop.Shopify': 'Shopify',
  'shop.WooCommerce': 'WooCommerce',
  'shop.generic': 'Your own website',

  'shopHint.shopify': 'Notifications, then Webhooks',
  'shopHint.woocommerce': 'Settings, Advanced, Webhooks',
  'shopHint.generic': 'Sends orders as JSON',

  'shopField.shopify':
    'In Shopify, open Online Store › Themes › Edit theme › product page › Add block › Custom Liquid, and paste this:',
  'shopField.woocommerce': 'Add this to the functions.php of your theme, or with a snippets plugin:',
  'shopField.generic': 'Send it in the order’s own field:',

  'steps.shopify.1': 'In Shopify, open {settings}, then {notifications}, then {webhooks}.',
  'steps.shopify.2': 'Choose {create}. Set the event to {event}, the format to {json}, and paste this address:',
  'steps.shopify.3': 'Shopify shows a secret under the list: “Your webhooks will be signed with …”. Paste it here:',
  'steps.shopify.3.beside':
    'Shopify shows a secret under the list: “Your webhooks will be signed with …”. Enter it under {place} on this page.',
  'steps.shopify.4': 'Add three more webhooks with the same address and format, one for each of these events:',
  'steps.shopify.5':
    'In Shopify, choose {test} beside “Order payment” alone. Its sample is a paid order, which shows that the address and the secret are right. The other webhooks use the same address and secret.',
  'steps.woocommerce.1': 'In WordPress, open {woo}, then {settings}, then {advanced}, then {webhooks}.',
  'steps.woocommerce.2': 'Choose {add}. Set the status to {active}, the topic to {topic}, and paste this delivery URL:',
  'steps.woocommerce.3': 'Paste this into {secret}:',
  'steps.woocommerce.3.kept': 'Paste the store’s secret into {secret}.',
  'steps.woocommerce.4':
    'Save it, then add one webhook more for each of these topics, with the same delivery URL and the same {secret}:',
  'steps.woocommerce.5':
    'Place a test order, and mark it as {processing}: so it counts as paid, and “Order updated” sends it. The other webhooks need no test.',
  'steps.generic.1': 'Send each paid order as JSON with POST to:',
  'steps.generic.2': 'Sign the exact body with the signing secret, HMAC-SHA256 in hex, in the header {header}:',
  'steps.generic.token':
    'Send an API token with each order, in the header {header}. {tokens} makes one; any permission will do, and its stores must include this one.',
  'steps.generic.3': 'The body, at least:',
  'steps.secretKept':
    'The secret is shown only once, when the store is created or the secret is rotated. Current secret: {preview}',
  'steps.secretLost':
    'If you have not stored it, rotate it, and enter the new one in each webhook that you have made already.',
  'steps.secretPlace': '“Signing secret”',
  'steps.secretBeside': 'If you have not kept it, make or enter a new one under {place} on this page.',
  'steps.secretLabel': 'Secret of the shop',
  'steps.secretSave': 'Save',
  'steps.secretShort': 'The secret of a shop has at least {n} characters. Copy the whole of it.',
  'steps.secretSaved': 'Saved, and stored encrypted.',
  'steps.secretStored': 'Saved, ends in {preview}',
  'steps.secretHint': 'Stored encrypted. With it the bridge knows that orders truly come from your shop.',
  'steps.word.settings': 'Settings',
  'steps.word.notifications': 'Notifications',
  'steps.word.webhooks': 'Webhooks',
  'steps.word.create': 'Create webhook',
  'steps.word.event': 'Order payment',
  'steps.word.json': 'JSON',
  'steps.word.update': 'Order update',
  'steps.word.cancel': 'Order cancellation',
  'steps.word.refund': 'Refund create',
  'steps.word.test': 'Send test notification',
  'steps.word.woo': 'WooCommerce',
  'steps.word.advanced': 'Advanced',
  'steps.word.add': 'Add webhook',
  'steps.word.active': 'Active',
  'steps.word.topic': 'Order created',
  'steps.word.secret': 'Secret',
  'steps.word.updated': 'Order updated',
  'steps.word.deleted': 'Order deleted',
  'steps.word.restored': 'Order restored',
  'steps.word.processing': 'Processing',
  'steps.why.update': 'brings a username that is added later, or an edited order',
  'steps.why.cancel': 'stops what is not shared yet',
  'steps.why.refund': 'stops refunded items; without it they are still delivered',
  'steps.why.updated': 'reports payments, refunds, cancellations and usernames that come later',
  'steps.why.deleted': 'stops what is not shared yet',
  'steps.why.restored': 'undoes that',
} as const;

addWords(store_kinds);
