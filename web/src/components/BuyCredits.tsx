// The button for a delivery that waits for credits, where they are sold.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { t } from '@/i18n/text';
import { AskForCredits, useSale } from '@/session/sale';
import { useIsOwner } from '@/session/useIsOwner';
import { ForOwners } from './ForOwners';

export function BuyCredits() {
  const owner = useIsOwner();
  const sold = useSale();
  if (owner === false) return <ForOwners>{t('fix.credits.owners')}</ForOwners>;
  return (
    <>
      <Button component={Link} to="/credits" variant="filled" size="md">
        {t(sold === false ? 'fix.credits' : 'fix.credits.buy')}
      </Button>
      {sold === false ? <AskForCredits /> : null}
    </>
  );
}
