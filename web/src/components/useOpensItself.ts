// For a menu that is loaded when its button is pressed: it replaces that button, and opens.
import { useEffect, useRef, useState } from 'react';

export function useOpensItself() {
  const [opened, onChange] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.focus();
    const next = requestAnimationFrame(() => onChange(true));
    return () => cancelAnimationFrame(next);
  }, []);
  return { button, menu: { opened, onChange } };
}
