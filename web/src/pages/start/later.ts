// How far a new account has come, by the service's data, and whether the person put the guide off.
import type { Schemas } from '@/api/client';

export type Setup = Schemas['Overview']['setup'];

// The five steps of the guide, in their order.
export const stepsDone = (setup: Setup): boolean[] => [
  setup.cloud,
  setup.store && setup.firstOrder,
  setup.mapping,
  setup.testOrder,
  setup.firstDelivery,
];

// An account that has delivered needs no guide; a person who has put it off is not led to it again.
export const isGuided = (setup: Setup, { guideDismissedAt }: Schemas['Preferences']) =>
  !setup.firstDelivery && guideDismissedAt === null;
