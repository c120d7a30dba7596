// After a sign-out that did not reach the service: the cookie may still open the session.
import { Alert } from '@/components/Alert';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { session, useOwesSignOut } from '@/session';
import styles from './sign-in.module.css';

export function SignOutOwed() {
  const owed = useOwesSignOut();
  const { busy, begin, end } = useSubmit();
  if (!owed) return null;
  const again = () => {
    if (begin()) void session.signOut().finally(end);
  };
  return (
    <div className={styles.owed}>
      <Alert
        action={
          <button type="button" className="link" aria-disabled={busy || undefined} onClick={again}>
            {t('action.again')}
          </button>
        }
      >
        {t('signOut.owed')}
      </Alert>
    </div>
  );
}
