// On top of every page of a sandbox.
import { t } from '@/i18n/text';
import styles from './SandboxBar.module.css';

export function SandboxBar() {
  return (
    <div className={styles.sandbox} role="region" aria-label={t('app.sandboxLabel')}>
      {t('app.sandbox')}
    </div>
  );
}
