// A purchase's state: icon, word, and a muted line.
import '@/i18n/en/credits';
import { Bdi } from '@/components/Bdi';
import { Shape } from '@/components/StatusIcon';
import { purchaseLine, purchaseLook, type Purchase } from '@/vocabulary/credits';
import { word } from '@/vocabulary/delivery';
import styles from './credits.module.css';

export function PurchaseState({ it }: { it: Purchase }) {
  const [icon, colour] = purchaseLook(it.state);
  const line = purchaseLine(it);
  return (
    <span className={styles.state} title={it.state}>
      <Shape icon={icon} colour={colour} />
      {word('purchaseState', it.state)}
      {line ? <Bdi className="muted">{line}</Bdi> : null}
    </span>
  );
}
