// The skipped orders that have presets now, of the chosen store, or of each store that has some.
import type { Schemas } from '@/api/client';
import { SkippedOrders } from '../store/products/SkippedOrders';
import styles from './orders.module.css';

const MOST = 5; // stores, as the service searches the orders of each

type Props = { stores: Schemas['Integration'][]; chosen: string | undefined };

export function SkippedHere({ stores, chosen }: Props) {
  const served = stores.filter(({ id, mappingCount, lastOrderAt }) =>
    chosen === undefined ? mappingCount > 0 && lastOrderAt !== null : id === chosen,
  );
  const named = chosen === undefined && stores.length > 1;
  return (
    <div className={styles.skipped}>
      {served.slice(0, MOST).map(({ id, name }) => (
        <SkippedOrders key={id} id={id} {...(named ? { store: name } : {})} />
      ))}
    </div>
  );
}
