import { addWords } from '../words';

// The order that a merchant's own website sends.
export const own_order = {
  'ownOrder.fields': 'These fields are read, all others are ignored:',
  'ownOrder.orderId': 'Required. Your id of the order. An order with a known id changes nothing.',
  'ownOrder.targetUsername':
    'The buyer’s username on {cloud}. Required, here or in one of the extra username fields of the store’s settings.',
  'ownOrder.items': 'Required. The products, 1 to 250.',
  'ownOrder.product':
    'At least one of them names a product. The SKU is matched first, then the product id, then the title.',
  'ownOrder.quantity':
    'A whole number for each product, 1 if left out. A preset is shared once, whatever the quantity.',
  'ownOrder.customerEmail': 'The buyer’s e-mail address, to write to. It is never used to find the buyer.',
  'ownOrder.answer':
    'Read the answer. {ok} means that the order is stored. {refused} means that it is refused and not stored, for example without a username: the answer names each faulty field. Correct the order and send it again, also after no answer or a 5xx.',
  'ownOrder.never':
    'Refunds, cancellations and test marks cannot be sent. Stop a delivery or take presets back on its page, or through the API.',
} as const;

addWords(own_order);
