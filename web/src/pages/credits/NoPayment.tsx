import '@/i18n/en/credits';
import { Button } from '@mantine/core';
import { IconCoins } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '@/components/States';
import { t } from '@/i18n/text';

export function NoPayment() {
  return (
    <EmptyState
      icon={IconCoins}
      title={t('payment.none')}
      body={t('payment.noneText')}
      action={
        <Button component={Link} to="/credits" activeOptions={{ exact: true }} variant="filled">
          {t('payment.back')}
        </Button>
      }
    />
  );
}
