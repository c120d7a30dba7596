// For a menu that is loaded when a button is pressed: the menu's own button replaces that one, and the menu opens.
import { useEffect, useRef, useState } from 'react';

export function useOpensItself() {
  const [opened, onChange] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.focus({ preventScroll: true }); // it stands where the pressed one stood
    const frame = requestAnimationFrame(() => onChange(true));
    return () => cancelAnimationFrame(frame);
  }, []);
  return { button, menu: { opened, onChange } };
}
