// The number of an order in a list. A long one is shown without its middle; its tooltip, its copy and a screen reader have it whole.
import { orderName } from '@/vocabulary/order';
import { Bdi } from './Bdi';
import styles from './OrderNumber.module.css';

const LONGEST = 20;
const START = 12;
const END = 6;

export function OrderNumber({ of, className = 'strong' }: { of: Parameters<typeof orderName>[0]; className?: string }) {
  const name = orderName(of);
  const letters = [...name];
  if (letters.length <= LONGEST) return <Bdi className={className}>{name}</Bdi>;
  return (
    <span className={className} title={name}>
      <Bdi className={`unseen ${styles.aloud}`}>{name}</Bdi>
      <span aria-hidden>
        <Bdi>{letters.slice(0, START).join('')}</Bdi>
        <Bdi className={styles.middle}>{letters.slice(START, -END).join('')}</Bdi>
        <Bdi className={styles.end}>{letters.slice(-END).join('')}</Bdi>
      </span>
    </span>
  );
}
