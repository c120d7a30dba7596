// The palette's script comes when it is first asked for. Letters that are typed until its field has the focus go into the search,
// and are no shortcuts.

// Collects what is typed outside of dialogs. The result ends the collection, and gives what was collected, once.
export function collectTyping(): () => string {
  let text = '';
  const listener = (event: KeyboardEvent) => {
    const inDialog = event.target instanceof Element && event.target.closest('[role="dialog"]') !== null;
    if (inDialog || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Backspace') text = text.slice(0, -1);
    else if (event.key.length === 1) text += event.key;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('keydown', listener, { capture: true });
  return () => {
    document.removeEventListener('keydown', listener, { capture: true });
    const collected = text;
    text = '';
    return collected;
  };
}
