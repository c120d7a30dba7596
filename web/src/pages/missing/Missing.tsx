import { Button } from '@mantine/core';
import { IconMapPinOff } from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { PageHeader } from '@/components/PageHeader';
import { EmptyState } from '@/components/States';
import { t } from '@/i18n/text';
import styles from './missing.module.css';

// `what` says which thing is missing, of which `back` leads to the list.
type Props = { body?: string; what?: string; back?: { label: string; to: NonNullable<LinkProps['to']> } };

export function Missing({ what, body = t(what ? 'error.missing.elsewhere' : 'error.missing.body'), back }: Props) {
  const title = what ?? t('error.missing.title');
  return (
    <div className={styles.place}>
      <PageHeader title={title} />
      <EmptyState
        icon={IconMapPinOff}
        title={title}
        body={body}
        action={
          <Button renderRoot={(props) => <Link {...props} to={back?.to ?? '/'} search={{}} />}>
            {back?.label ?? t('error.missing.home')}
          </Button>
        }
      />
    </div>
  );
}
