import '@/i18n/en/customers';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';

export function StoreName({ id }: { id: string }) {
  const stores = useQuery(queries.stores());
  const name = stores.data?.data.find((one) => one.id === id)?.name;
  return (
    <Bdi className={name ? undefined : 'muted'} title={name ?? id}>
      {name ?? (stores.data ? t('buyerData.removedStore') : '')}
    </Bdi>
  );
}
