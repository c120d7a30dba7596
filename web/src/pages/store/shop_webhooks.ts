// The events that a shop's webhooks are made for, in the shop's own words: first the one that sends a paid order, then the rest. A test
// compares them with docs/guides.
import '@/i18n/en/stores';
import type { TextKey } from '@/i18n/text';

type Word = Extract<TextKey, `steps.word.${string}`>;
type Event = readonly [name: Word, why: Extract<TextKey, `steps.why.${string}`>];

export const SHOP_WEBHOOKS = {
  shopify: {
    first: 'steps.word.event',
    others: [
      ['steps.word.update', 'steps.why.update'],
      ['steps.word.cancel', 'steps.why.cancel'],
      ['steps.word.refund', 'steps.why.refund'],
    ],
  },
  woocommerce: {
    first: 'steps.word.topic',
    others: [
      ['steps.word.updated', 'steps.why.updated'],
      ['steps.word.deleted', 'steps.why.deleted'],
      ['steps.word.restored', 'steps.why.restored'],
    ],
  },
} as const satisfies Record<string, { first: Word; others: readonly Event[] }>;
