// The one narrow column of the pages before the sign-in.
import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { t } from '@/i18n/text';
import { signInConfig } from '@/session/config';
import { Mark } from '@/shell/Mark';
import { SandboxBar } from '@/shell/SandboxBar';
import { SignOutOwed } from './SignOutOwed';
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
  const sandbox = useQuery(signInConfig()).data?.sandbox;
  useEffect(() => {
    document.title = t('app.title', { page });
  }, [page]);
  return (
    <>
      {sandbox ? <SandboxBar /> : null}
      <main className={styles.frame} data-sandbox={sandbox || undefined}>
        <div className={styles.brand}>
          <Mark />
          <span>{t('app.name')}</span>
        </div>
        <h1>{title}</h1>
        <p className={styles.lead}>{lead}</p>
        <SignOutOwed />
        {children}
      </main>
    </>
  );
}
