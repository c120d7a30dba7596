// From one delivery that needs somebody to the next: once this one is solved, the next of the list has the focus. With Ctrl or Cmd and
// Enter the panel's first action is done and, when it succeeded, the next one opened.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { Bdi } from '@/components/Bdi';
import { Panel } from '@/components/Panel';
import { closeSaid } from '@/components/toasts';
import { t } from '@/i18n/text';
import { lineOf } from '@/vocabulary/delivery_line';
import { stateWord } from '@/vocabulary/delivery';
import { orderName } from '@/vocabulary/order';
import { Stay } from './onward';
import type { Delivery } from './types';
import { nextOf, type Walk } from './walk';
import styles from './panels.module.css';

const needsSomebody = ({ status, pendingAction }: Delivery) =>
  pendingAction === null && (status === 'failed' || status === 'in_review');

// The panel of such a delivery is a line, which stands beside the button instead.
const isLine = ({ status, pendingAction }: Delivery) =>
  pendingAction === null && ['queued', 'processing', 'completed'].includes(status);

const FLOATING = '[role="dialog"], [role="menu"], [role="listbox"]';

type Props = { it: Delivery; list: string | undefined; walk: Walk | null; children: ReactNode };

export function FixFlow({ it, list, walk, children }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const goesOn = useRef(false);
  const within = useRef(false); // the person works in this panel, or in a dialog or menu of it
  const navigate = useNavigate();
  const needs = needsSomebody(it);
  const [needed, setNeeded] = useState(needs);
  if (needs && !needed) setNeeded(true);
  const next = walk ? nextOf(walk) : undefined;
  const solved = needed && !needs;
  const open = (id: string) => void navigate({ to: '/deliveries/$id', params: { id }, search: list ? { list } : {} });
  const go = useEffectEvent(() => {
    if (next) open(next.id);
    return next !== undefined;
  });
  const stay = useCallback(() => {
    goesOn.current = false;
  }, []);
  const act = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !needs) return;
    if (document.querySelector('[role="dialog"][aria-modal="true"]')) return;
    const { target } = event;
    if (!(target instanceof Element) || target.closest('a[href]')) return; // a link opens in a new tab
    if (target !== document.body && !place.current?.contains(target)) return;
    const form = place.current?.querySelector('form');
    const primary = place.current?.querySelector<HTMLElement>('[data-variant="filled"]');
    if (!form && (!primary || primary.matches(':disabled'))) return;
    event.preventDefault();
    goesOn.current = form?.reportValidity() ?? true;
    if (!form) primary?.click();
    else if (goesOn.current) form.requestSubmit();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => act(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  useEffect(() => {
    const follow = ({ target }: Event) => {
      if (!(target instanceof Element) || target.closest(FLOATING)) return;
      within.current = place.current?.contains(target) ?? false;
    };
    within.current = place.current?.contains(document.activeElement) ?? false;
    const events = ['focusin', 'pointerdown'];
    for (const event of events) document.addEventListener(event, follow);
    return () => {
      for (const event of events) document.removeEventListener(event, follow);
    };
  }, []);
  useEffect(() => {
    if (!solved) return;
    if (goesOn.current && go()) return;
    const { activeElement } = document;
    if (activeElement !== document.body && !place.current?.contains(activeElement)) return;
    if (!within.current) return; // it was solved elsewhere: the focus stays where the person is
    // The element that had the focus is gone with the panel.
    if (button.current) button.current.focus();
    else document.querySelector('h1')?.focus({ preventScroll: true });
  }, [solved]);
  // Another failure or another reason for a review has a panel of its own.
  useEffect(stay, [stay, it.status, it.resolutionCode, it.reviewReason]);
  const line = solved && next && isLine(it);
  const onward =
    solved && next ? (
      <Button
        ref={button}
        variant="filled"
        size="md"
        onClick={() => {
          closeSaid();
          open(next.id);
        }}
      >
        <Bdi>{t('fix.next', { order: orderName(next) })}</Bdi>
      </Button>
    ) : null;
  return (
    <div ref={place} className={styles.flow}>
      <Stay value={stay}>{line ? null : children}</Stay>
      {line ? (
        <Panel tone="teal">
          <div className={styles.onward}>
            <p>
              <strong>{stateWord(it)}</strong> <span className="muted">{lineOf(it)}</span>
            </p>
            {onward}
          </div>
        </Panel>
      ) : onward ? (
        <div className={styles.onward}>{onward}</div>
      ) : null}
    </div>
  );
}
