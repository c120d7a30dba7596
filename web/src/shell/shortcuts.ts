// Keyboard shortcuts of single keys. They work where nobody is typing and no dialog or menu is open, and can be turned off.
import { useEffect, useRef } from 'react';

// Set from the person's preferences. Shortcuts are on until these are read.
let off = false;
export const areShortcutsOn = () => !off;
export function turnShortcuts(on: boolean) {
  off = !on;
}

const typing = (target: EventTarget | null) =>
  target instanceof HTMLInputElement
    ? !/^(checkbox|radio)$/.test(target.type)
    : target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));

export const isDialogOpen = () => document.querySelector('[role="dialog"][aria-modal="true"]') !== null;

// Calls the function of the latest render by one listener, which stays over all renders.
function useKeyDown(onKey: (event: KeyboardEvent) => void) {
  const latest = useRef(onKey);
  useEffect(() => {
    latest.current = onKey;
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => latest.current(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}

export function useShortcuts(keys: Record<string, () => void>) {
  useKeyDown((event) => {
    if (off || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || isDialogOpen()) return;
    if (document.querySelector('[role="menu"]')) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

// Ctrl+K and ⌘K: also where somebody is typing, and never turned off.
export function usePaletteKey(act: () => void) {
  useKeyDown((event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    act();
  });
}
