// The button of the actions, whose menu is loaded when it is pressed.
import { lazy, Suspense, useState } from 'react';
import { ActionsButton } from './ActionsButton';
import type { Delivery } from './types';

const ActionsMenu = lazy(() => import('./ActionsMenu').then((part) => ({ default: part.ActionsMenu })));

export function LazyActions({ it }: { it: Delivery }) {
  const [pressed, setPressed] = useState(false);
  const button = <ActionsButton onClick={() => setPressed(true)} />;
  if (!pressed) return button;
  return (
    <Suspense fallback={button}>
      <ActionsMenu it={it} />
    </Suspense>
  );
}
