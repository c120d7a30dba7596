import type { ReactNode } from 'react';
import { t } from '@/i18n/text';
import styles from './Tag.module.css';

export function Tag({ children }: { children: ReactNode }) {
  return <span className={styles.tag}>{children}</span>;
}

// The marks of an order, or of a delivery, beside its status.
type Marked = {
  test?: boolean;
  dryRun: boolean | null;
  refunded: boolean;
  refundedInPart: boolean;
  cancelled: boolean;
};
export const Marks = ({ of }: { of: Marked }) => (
  <>
    {of.test || of.dryRun ? <Tag>{t('tag.test')}</Tag> : null}
    {of.refunded ? <Tag>{t(of.refundedInPart ? 'tag.refundedInPart' : 'tag.refunded')}</Tag> : null}
    {of.cancelled ? <Tag>{t('tag.cancelled')}</Tag> : null}
  </>
);
