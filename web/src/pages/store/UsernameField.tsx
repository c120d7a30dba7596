// The field in which buyers say their username: its purpose, where it belongs in this kind of shop, and its code.
import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { CopyButton } from '@/components/Copy';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { kindFor } from './kinds/kinds';
import styles from './steps.module.css';

export function UsernameField({ it }: { it: Store }) {
  const { snippet, snippetHint } = kindFor(it);
  return (
    <>
      <p className="muted">{t('connection.usernameText')}</p>
      <p>{t(snippetHint)}</p>
      <div className={styles.snippet}>
        <pre tabIndex={0} aria-label={t('connection.usernameCode')}>
          {snippet}
        </pre>
        <CopyButton text={snippet} />
      </div>
    </>
  );
}
