// The head of the account's pages, each of which is a tab.
import '@/i18n/en/profile';
import type { ReactNode } from 'react';
import { PageHeader } from '@/components/PageHeader';
import { Tabs } from '@/components/Tabs';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import styles from './account.module.css';

const TABS = ['profile', 'people', 'sessions', 'customers', 'audit'] as const;
const OWNERS: ReadonlySet<string> = new Set(['audit']); // tabs that members do not have
type Props = { tab: (typeof TABS)[number]; actions?: ReactNode; children: ReactNode };

export function AccountPage({ tab, actions, children }: Props) {
  const owner = useIsOwner();
  return (
    <div className={styles.page}>
      <PageHeader title={t('accountPage.title')} page={t(`accountPage.${tab}`)} actions={actions} />
      <Tabs
        label={t('accountPage.title')}
        tabs={TABS.filter((one) => owner || one === tab || !OWNERS.has(one)).map((one) => ({
          label: t(`accountPage.${one}`),
          active: one === tab,
          link: { to: `/account/${one}`, search: {} },
        }))}
      />
      {children}
    </div>
  );
}
