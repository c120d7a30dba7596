// The rights of a token in the words of the list and of its page; each right on hover.
import '@/i18n/en/account';
import { t } from '@/i18n/text';
import { hasUsual, permissionList, permissionWord } from '@/vocabulary/keys';
import styles from './keys.module.css';

export function Rights({ of }: { of: string[] }) {
  return (
    <span className={styles.may} title={of.map(permissionWord).join('\n')}>
      {hasUsual(of) ? t('keysPage.all') : permissionList(of)}
    </span>
  );
}
