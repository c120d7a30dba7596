import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { DeliveryList } from '../deliveries/DeliveryList';

const route = getRouteApi('/inside/integrations/stores/$id/deliveries');

export function StoreDeliveries() {
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  return (
    <DeliveryList
      store={id}
      search={search}
      onSearch={(next, replace) =>
        void navigate({
          to: '/integrations/stores/$id/deliveries',
          params: { id },
          search: next,
          replace: replace ?? false,
        })
      }
    />
  );
}
