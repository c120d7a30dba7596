// The request that asks for a recent sign-in, in the words of the dialog.
import '@/i18n/en/step_up';
import { t } from '@/i18n/text';

const PURPOSES = {
  'POST /api/keys': 'stepUp.for.token',
  'PATCH /api/keys/*': 'stepUp.for.tokenChange',
  'POST /api/keys/*/rotate': 'stepUp.for.tokenRotate',
  'POST /api/credits/checkout': 'stepUp.for.checkout',
  'POST /api/integrations': 'stepUp.for.store',
  'POST /api/integrations/*/rotate-secret': 'stepUp.for.storeSecret',
  'POST /api/webhook-subscriptions': 'stepUp.for.webhook',
  'POST /api/webhook-subscriptions/*/rotate-secret': 'stepUp.for.webhookSecret',
  'PATCH /api/people/*': 'stepUp.for.person',
  'POST /api/invitations': 'stepUp.for.invitation',
  'PUT /api/credentials': 'stepUp.for.login',
  'DELETE /api/credentials': 'stepUp.for.loginDelete',
  'POST /api/account/delete': 'stepUp.for.accountDelete',
} as const;

// `request`: its method and address. `byIssuer`: the person signs in at an identity provider, and has no password here.
export function purposeWords(request: string, byIssuer: boolean): string {
  const operation = request.replace(/\/[a-z]{3}_\w+/g, '/*');
  const known = Object.hasOwn(PURPOSES, operation) ? PURPOSES[operation as keyof typeof PURPOSES] : 'stepUp.for.other';
  return t(byIssuer ? 'stepUp.byIssuer' : 'stepUp.byPassword', { purpose: t(known) });
}
