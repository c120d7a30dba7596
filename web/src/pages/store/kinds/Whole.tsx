// The last characters of a secret, which stay on one line with the "…" before them.
import { Bdi } from '@/components/Bdi';
import styles from '../steps.module.css';

export const Whole = ({ text }: { text: string }) => <Bdi className={styles.whole}>{text}</Bdi>;
