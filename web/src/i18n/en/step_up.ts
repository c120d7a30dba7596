import { addWords } from '../words';

export const step_up = {
  'stepUp.for.token': 'Type your password to create a token.',
  'stepUp.for.tokenChange': 'Type your password to change a token.',
  'stepUp.for.tokenRotate': 'Type your password to rotate a token.',
  'stepUp.for.checkout': 'Type your password to buy credits.',
  'stepUp.for.store': 'Type your password to connect a store.',
  'stepUp.for.storeSecret': 'Type your password to change the secret of a store.',
  'stepUp.for.webhook': 'Type your password to add a webhook.',
  'stepUp.for.webhookSecret': 'Type your password to rotate a signing secret.',
  'stepUp.for.person': 'Type your password to change what a person may do.',
  'stepUp.for.invitation': 'Type your password to invite somebody.',
  'stepUp.for.login': 'Type your password to save the cloud login.',
  'stepUp.for.loginDelete': 'Type your password to delete the cloud login.',
  'stepUp.for.accountDelete': 'Type your password to delete the account.',
} as const;

addWords(step_up);
