// A username as text: isolated, not translated, with what cannot be seen made visible.
import { t } from '@/i18n/text';
import styles from './Buyer.module.css';

// Spaces at the ends, and characters without a width or that turn the direction of what follows.
const UNSEEN = /^\s+|\s+$|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

export function Name({ children }: { children: string }) {
  const parts: React.ReactNode[] = [];
  let end = 0;
  for (const found of children.matchAll(UNSEEN)) {
    parts.push(children.slice(end, found.index));
    const sign = /\s/.test(found[0])
      ? '␣'.repeat(found[0].length)
      : `U+${found[0].codePointAt(0)!.toString(16).toUpperCase()}`;
    parts.push(
      <span key={found.index} className={styles.unseen}>
        {sign}
      </span>,
    );
    end = found.index + found[0].length;
  }
  parts.push(children.slice(end));
  return <bdi translate="no">{parts}</bdi>;
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
