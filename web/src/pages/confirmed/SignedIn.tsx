// The page that a sign-in with an identity provider comes back to, in a tab of its own, where the session of an open page had ended. That
// page takes the tokens from this tab, which has restored the new session.
import { t } from '@/i18n/text';
import { TabDone } from './TabDone';

export function SignedIn() {
  return <TabDone title={t('signedIn.title')} lead={t('confirmed.lead')} />;
}
