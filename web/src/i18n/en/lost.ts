import { addWords } from '../words';

// Whether the shop sends an order again that was refused (docs/guides).
export const lost = {
  'lost.Shopify': 'Shopify sends refused orders again for about four hours; after that they are lost.',
  'lost.WooCommerce': 'WooCommerce does not send refused orders again: they are lost.',
  'lost.generic': 'Refused orders are lost unless your website sends them again.',
} as const;

addWords(lost);
