// The status in a row, with the marks of the order. `note`: shown on a narrow screen, which leaves its column out.
import type { ReactNode } from 'react';
import styles from './StatusWithMarks.module.css';

type Props = { status: ReactNode; marks: ReactNode; note?: ReactNode };

export function StatusWithMarks({ status, marks, note }: Props) {
  return (
    <span className={styles.status}>
      {status}
      <span className={styles.marks}>{marks}</span>
      {note ? <span className={styles.note}>{note}</span> : null}
    </span>
  );
}
