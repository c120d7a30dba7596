// A purchase's state: icon, word, and a muted line.
import '@/i18n/en/credits';
import { Bdi } from '@/components/Bdi';
import { Shape } from '@/components/StatusIcon';
import { purchaseLine, purchaseLook, purchaseWord, type Purchase } from '@/vocabulary/credits';
import styles from './credits.module.css';

export function PurchaseState({ it }: { it: Purchase }) {
  const [icon, colour] = purchaseLook(it.state);
  const line = purchaseLine(it);
  return (
    <span className={styles.state} title={it.state}>
      <Shape icon={icon} colour={colour} />
      {purchaseWord(it)}
      {line ? <Bdi className="muted">{line}</Bdi> : null}
    </span>
  );
}
