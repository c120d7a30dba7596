// Whether an active webhook gets events of this type about a store. False also where that is not known.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import type { EventType } from '@/vocabulary/webhook';

export const useHears = (type: EventType, store: string) =>
  useQuery(queries.subscriptions()).data?.data.some(
    ({ active, eventTypes, integrationIds }) =>
      active &&
      (eventTypes.length === 0 || eventTypes.includes(type)) &&
      (integrationIds.length === 0 || integrationIds.includes(store)),
  ) ?? false;
