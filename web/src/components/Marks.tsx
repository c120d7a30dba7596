// What a list and a page say of an order beside its status: a test, refunded, cancelled.
import type { ReactNode } from 'react';
import { t } from '@/i18n/text';
import { Tag } from './Tag';
import styles from './Tag.module.css';

type Marked = { test?: boolean; dryRun: boolean | null; refunded: boolean; cancelled: boolean };

export const Marks = ({ of }: { of: Marked }) => (
  <>
    {of.test || of.dryRun ? <Tag>{t('tag.test')}</Tag> : null}
    {of.refunded ? <Tag>{t('tag.refunded')}</Tag> : null}
    {of.cancelled ? <Tag>{t('tag.cancelled')}</Tag> : null}
  </>
);

// The status in a row, and on a narrow screen the marks, whose column is left out there.
export function StatusWithMarks({ status, children }: { status: ReactNode; children: ReactNode }) {
  return (
    <span className={styles.status}>
      {status}
      <span className={styles.narrow}>{children}</span>
    </span>
  );
}
