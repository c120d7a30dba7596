import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { orderIdOf } from '@/vocabulary/order';
import type { Delivery } from './types';

// The lines of a delivery's order where it has refunds: the delivery does not say which of them are refunded.
export const useLines = (it: Delivery) =>
  useQuery({ ...queries.order(orderIdOf(it.id)), enabled: it.refunded }).data?.lines;
