import '@/i18n/en/home';
import { Button } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import styles from './overview.module.css';

type Props = { rows: { id: string; name: string }[]; store: string | undefined } & ComponentProps<'button'>;

export function StoreButton({ rows, store, ...rest }: Props) {
  return (
    <Button
      rightSection={<IconChevronDown size={15} />}
      aria-haspopup="menu"
      aria-expanded={false}
      className={styles.store}
      {...rest}
    >
      <span className="unseen">{t('overview.store')}</span>
      <Bdi>{rows.find(({ id }) => id === store)?.name ?? t('overview.allStores')}</Bdi>
    </Button>
  );
}
