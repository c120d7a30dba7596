import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { IconBuildingStore, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { PageHeader } from '@/components/PageHeader';
import { EmptyState, Loaded, SkeletonRows } from '@/components/States';
import { t, T } from '@/i18n/text';
import { StoreRows } from './StoreRows';

const ConnectButton = () => (
  <Button component={Link} to="/integrations/stores/new" variant="filled" leftSection={<IconPlus size={16} />}>
    {t('stores.new')}
  </Button>
);

// On each page that lists stores. Without a store the button stands in the list's place.
export function NewStoreButton() {
  const empty = useQuery(queries.stores()).data?.data.length === 0;
  return empty ? null : <ConnectButton />;
}

export function StoreList() {
  const read = useQuery(queries.stores());
  return (
    <Loaded read={read} what={t('stores.what')} skeleton={<SkeletonRows rows={3} height={56} />}>
      {({ data }) =>
        data.length > 0 ? (
          <StoreRows rows={data} />
        ) : (
          <EmptyState
            icon={IconBuildingStore}
            title={t('stores.empty.title')}
            body={t('stores.empty.body')}
            action={<ConnectButton />}
          />
        )
      }
    </Loaded>
  );
}

export function Stores() {
  const cloud = useQuery(queries.cloud());
  const user = cloud.data?.cloudUsername;
  return (
    <>
      <PageHeader
        title={t('stores.title')}
        lead={user ? <T k="stores.lead" values={{ user: <Bdi translate="no">{user}</Bdi> }} /> : t('stores.leadNone')}
        actions={<NewStoreButton />}
      />
      <StoreList />
    </>
  );
}
