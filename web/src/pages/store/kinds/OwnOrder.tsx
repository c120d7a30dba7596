// The fields of an order of the merchant's own website, and the answers to it: loaded with the steps that show them.
import '@/i18n/en/own_order';
import { t, T } from '@/i18n/text';
import styles from '../steps.module.css';

// The fields that the service reads of such an order (src/providers/generic/reader.cpp).
const FIELDS = [
  ['orderId', 'ownOrder.orderId'],
  ['targetUsername', 'ownOrder.targetUsername'],
  ['items', 'ownOrder.items'],
  ['sku, productId, title', 'ownOrder.product'],
  ['quantity', 'ownOrder.quantity'],
  ['customerEmail', 'ownOrder.customerEmail'],
] as const;

export function Fields() {
  return (
    <>
      <p className={styles.note}>{t('ownOrder.fields')}</p>
      <dl className={styles.fields}>
        {FIELDS.map(([field, says]) => (
          <div key={field}>
            <dt>
              <code>{field}</code>
            </dt>
            <dd>{t(says)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

const [OK, REFUSED] = ['202', '400'];

export function Answers() {
  return (
    <>
      <T k="ownOrder.answer" values={{ ok: <code>{OK}</code>, refused: <code>{REFUSED}</code> }} />
      <p className={styles.note}>{t('ownOrder.never')}</p>
    </>
  );
}
