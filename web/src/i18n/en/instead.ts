import { addWords } from '../words';

// Another preset in the place of one that is missing or cannot be shared.
export const instead = {
  'instead.pick': 'Preset to deliver instead',
  'instead.mark.present': 'already in this order',
  'instead.mark.former': 'to be replaced',
  'instead.had': 'This order already has {preset}, so the buyer gets nothing more.',
  'instead.use': 'Use this file',
  'instead.useRetry': 'Use and retry',
  'instead.noMapping': 'No product of this store delivers this file any more.',
  'instead.product': 'The preset that you choose is delivered for {product} in all orders of {store} from now on.',
  'instead.products': 'The preset that you choose is delivered for {n} products in all orders of {store} from now on.',
  'instead.others.unknown': 'Orders that failed for the missing preset go on too, one credit a preset.',
  'instead.others.some': {
    one: '{count} other order that failed for the missing preset goes on too, one credit a preset.',
    other: '{count} other orders that failed for the missing preset go on too, one credit a preset.',
  },
  'instead.others.many': '{n}+ other orders that failed for the missing preset go on too, one credit a preset.',
  'instead.done': 'Saved for all orders of {store}. This order goes on.',
  'instead.done.unknown': 'Saved for all orders of {store}. Orders that failed for the missing preset go on.',
  'instead.done.some': {
    one: 'Saved for all orders of {store}. This order goes on, and {count} other.',
    other: 'Saved for all orders of {store}. This order goes on, and {count} others.',
  },
  'instead.done.many': 'Saved for all orders of {store}. This order goes on, and {n}+ others.',
} as const;

addWords(instead);
