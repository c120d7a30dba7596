import { lazy } from 'react';
import { LazyMenu } from '@/components/LazyMenu';
import { ActionsButton } from './ActionsButton';
import type { Delivery } from './types';

const ActionsMenu = lazy(() => import('./ActionsMenu').then((part) => ({ default: part.ActionsMenu })));

export const LazyActions = ({ it }: { it: Delivery }) => (
  <LazyMenu button={(props) => <ActionsButton {...props} />}>
    <ActionsMenu it={it} />
  </LazyMenu>
);
