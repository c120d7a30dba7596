// The order's delivery, where it has one: its username may have been corrected, and it may be a rehearsal.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import type { Order } from './types';

export const useDelivery = ({ deliveryId }: Order) =>
  useQuery({ ...queries.delivery(deliveryId ?? ''), ...(deliveryId ? {} : { enabled: false }) }).data;
