// A username as text: isolated, not translated, with what cannot be seen made visible.
import { codeOf } from '@/i18n/outside';
import { t } from '@/i18n/text';
import { Bdi, withSigns } from './Bdi';
import styles from './Buyer.module.css';

// Spaces at the ends, and characters without a width or that turn the direction of what follows.
const UNSEEN = /^\s+|\s+$|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

export function Name({ children }: { children: string }) {
  const signs = [...children.matchAll(UNSEEN)].map(({ 0: found, index }) => ({
    at: index,
    length: found.length,
    sign: /\s/.test(found) ? '␣'.repeat(found.length) : codeOf(found),
  }));
  return <Bdi translate="no">{withSigns(children, signs)}</Bdi>;
}

export function Buyer({ username }: { username: string | null }) {
  if (username === null || username === '') return <span className={styles.none}>{t('unknown.buyer')}</span>;
  return (
    <span translate="no" className={styles.name}>
      {'@'}
      <Name>{username}</Name>
    </span>
  );
}
