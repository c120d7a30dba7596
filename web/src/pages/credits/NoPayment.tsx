import '@/i18n/en/credits';
import { Button } from '@mantine/core';
import { IconCoins } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '@/components/States';
import { t } from '@/i18n/text';

// `unknown`: the address names a purchase, and the account has none like it.
export function NoPayment({ unknown = false }: { unknown?: boolean }) {
  return (
    <EmptyState
      icon={IconCoins}
      title={t(unknown ? 'payment.unknown' : 'payment.none')}
      body={t('payment.noneText')}
      action={
        <Button component={Link} to="/credits" activeOptions={{ exact: true }} variant="filled">
          {t('payment.back')}
        </Button>
      }
    />
  );
}
