import { addWords } from '../words';

// The question before a store refuses orders that carry no token.
export const require_token = {
  'requireToken.title': 'Require a token of {name}?',
  'requireToken.body': 'Orders that come without a valid API token are refused from now on, and may be lost.',
  'requireToken.never':
    '{shop} cannot send a token with its webhooks. Every order of this store is refused from now on, and may be lost.',
  'requireToken.button': 'Require a token',
} as const;

addWords(require_token);
