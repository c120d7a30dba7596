// The one narrow column of the pages before the sign-in.
import { useEffect, type ReactNode } from 'react';
import { t } from '@/i18n/text';
import { Mark } from '@/shell/Mark';
import styles from './sign-in.module.css';

export function Frame({
  title,
  lead,
  page,
  children,
}: {
  title: string;
  lead: string;
  page: string;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = t('app.title', { page });
  }, [page]);
  return (
    <main className={styles.frame}>
      <div className={styles.brand}>
        <Mark />
        <span>{t('app.name')}</span>
      </div>
      <h1>{title}</h1>
      <p className={styles.lead}>{lead}</p>
      {children}
    </main>
  );
}
