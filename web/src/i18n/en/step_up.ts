import { addWords } from '../words';

export const step_up = {
  'stepUp.byPassword': 'Type your password to {purpose}.',
  'stepUp.byIssuer': 'Sign in once more to {purpose}.',
  'stepUp.for.other': 'go on',
  'stepUp.for.token': 'create a token',
  'stepUp.for.tokenChange': 'change a token',
  'stepUp.for.tokenRotate': 'rotate a token',
  'stepUp.for.checkout': 'buy credits',
  'stepUp.for.store': 'connect a store',
  'stepUp.for.storeSecret': 'change the secret of a store',
  'stepUp.for.webhook': 'add a webhook',
  'stepUp.for.webhookSecret': 'rotate a signing secret',
  'stepUp.for.person': 'change what a person may do',
  'stepUp.for.invitation': 'invite somebody',
  'stepUp.for.login': 'save the cloud login',
  'stepUp.for.loginDelete': 'delete the cloud login',
  'stepUp.for.accountDelete': 'delete the account',
} as const;

addWords(step_up);
