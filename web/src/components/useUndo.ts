// Offers to take back a change of what a component has not saved: until the next offer, until `close`, and while the component is there.
import { useEffect, useRef, type ReactNode } from 'react';
import { toastUndo } from './toasts';

export function useUndo() {
  const shown = useRef<() => void>(undefined);
  const close = () => shown.current?.();
  useEffect(() => close, []);
  const offer = (text: ReactNode, undo: () => void) => {
    close();
    shown.current = toastUndo(text, undo);
  };
  return { offer, close };
}
