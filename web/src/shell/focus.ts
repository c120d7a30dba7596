// Keeps the position of a person who uses the keyboard. Where the focused element leaves the page (a panel is solved, a row has gone, a
// dialog closes over a button that is gone), the focus goes to the next element of the page, else to the one before, else to the page's
// name.
const FLOATING = '[role="dialog"], [role="menu"], [role="listbox"]';
const REACHABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea, [tabindex="0"]';
const DANGER = '[data-variant="danger"], [data-danger]'; // a key that is held down would press it
const SOON_MS = 60; // a dialog that closes gives the focus back by itself first

// Whether an element begins after the end of the other.
const comesAfter = (other: Node, it: Node) =>
  !other.contains(it) && (other.compareDocumentPosition(it) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

export function keepFocus(root: Document = document): () => void {
  let last: HTMLElement | null = null; // null: the pointer went elsewhere
  let gap: { parent: Node; before: Node | null } | null = null; // where the focused element was, once it has left
  let pointed = false; // the last input was the pointer's, whose user sees where they are
  let timer: ReturnType<typeof setTimeout> | undefined;
  const seen = (it: Element) => it.isConnected && it.getClientRects().length > 0;

  function follow({ target }: FocusEvent) {
    if (!(target instanceof HTMLElement) || target.closest(FLOATING)) return;
    last = target;
    gap = null;
  }
  // Moves the gap outwards when the elements around it leave the page too.
  function note({ target, removedNodes, previousSibling }: MutationRecord) {
    for (const gone of removedNodes) {
      if (gone.contains(gap ? gap.parent : last)) gap = { parent: target, before: previousSibling };
      else if (gap && gone === gap.before) gap.before = previousSibling;
    }
  }
  function nearest(): HTMLElement | undefined {
    const main = root.querySelector('main');
    let { parent, before } = gap ?? { parent: last?.parentNode ?? null, before: last };
    while (parent instanceof HTMLElement && parent !== root.body) {
      const all = [...parent.querySelectorAll<HTMLElement>(REACHABLE)].filter(
        (it) => seen(it) && !it.closest(DANGER) && !it.closest(FLOATING) && (!main || main.contains(it)),
      );
      const from = before;
      const near = all.find((it) => !from || comesAfter(from, it)) ?? all.at(-1);
      if (near) return near;
      [before, parent] = [parent, parent.parentNode];
    }
    return undefined;
  }
  function restore() {
    timer = undefined;
    if (!last || root.activeElement !== root.body || root.querySelector('[role="dialog"][aria-modal="true"]')) return;
    const name = root.querySelector('h1');
    if (name) name.tabIndex = -1;
    const place = seen(last) ? last : (nearest() ?? name);
    place?.focus({ preventScroll: pointed || seen(last) });
  }
  const changed = new MutationObserver((records) => {
    if (!last) return;
    records.forEach(note);
    if (root.activeElement === root.body) timer ??= setTimeout(restore, SOON_MS);
  });
  const point = () => {
    pointed = true;
    last = null;
  };
  const type = () => (pointed = false);
  changed.observe(root.body, { childList: true, subtree: true });
  root.addEventListener('focusin', follow);
  root.addEventListener('pointerdown', point);
  root.addEventListener('keydown', type, true);
  return () => {
    changed.disconnect();
    clearTimeout(timer);
    root.removeEventListener('focusin', follow);
    root.removeEventListener('pointerdown', point);
    root.removeEventListener('keydown', type, true);
  };
}
