// A warning that a product is matched by its title alone, and the button that matches it by its SKU or id.
import '@/i18n/en/stores';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import type { Match } from './draft';
import styles from './products.module.css';

export function ByTitle({ name, match, onChoose }: { name: string; match: Match; onChoose: () => void }) {
  return (
    <div className={styles.byTitle}>
      <span>{t(match.ignored ? 'products.byTitleIgnored' : 'products.byTitle')}</span>{' '}
      <button type="button" className={styles.quietButton} onClick={onChoose}>
        {word('match.instead', match.matchType)} <span className="unseen">{name}</span>
      </button>
    </div>
  );
}
