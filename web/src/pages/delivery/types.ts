import type { Schemas } from '@/api/client';

export type Delivery = Schemas['DeliveryWithTimeline'];
