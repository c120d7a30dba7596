// A line at the foot of the screen after an action. It stays long enough to be read, and while it is pointed at.
import { IconCheck, IconX } from '@tabler/icons-react';
import { ActionIcon } from '@mantine/core';
import { useSyncExternalStore, type ReactNode } from 'react';
import { t } from '@/i18n/text';
import { Shape } from './StatusIcon';
import styles from './toasts.module.css';

type Toast = { id: number; tone: 'good' | 'bad'; text: ReactNode; action?: ReactNode; stay?: boolean };
const LIFE_MS = 8_000;

let toasts: Toast[] = [];
let next = 0;
const listeners = new Set<() => void>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function become(now: Toast[]) {
  toasts = now;
  for (const listener of listeners) listener();
}
function away(id: number) {
  clearTimeout(timers.get(id));
  timers.delete(id);
  become(toasts.filter((one) => one.id !== id));
}
const leaveLater = (id: number) =>
  timers.set(
    id,
    setTimeout(() => away(id), LIFE_MS),
  );

type Options = Partial<Pick<Toast, 'tone' | 'action' | 'stay'>>;

function add(id: number, text: ReactNode, { tone = 'good', action, stay }: Options) {
  become([
    ...toasts.filter((one) => one.stay),
    ...toasts.filter((one) => !one.stay).slice(-2),
    { id, tone, text, action, ...(stay ? { stay } : {}) },
  ]);
  if (!stay) leaveLater(id);
}

// A toast with `stay` remains until it is closed. The function that is returned ends that: the toast then goes after the usual time.
export function toast(text: ReactNode, options: Options = {}): () => void {
  const id = ++next;
  add(id, text, options);
  return () => {
    become(toasts.map((one) => (one.id === id ? { ...one, stay: false } : one)));
    leaveLater(id);
  };
}

// A toast about what can be taken back. The function that is returned removes it.
export function toastUndo(text: ReactNode, undo: () => void): () => void {
  const id = ++next;
  const close = () => away(id);
  const takeBack = () => {
    close();
    undo();
  };
  const action = (
    <button type="button" className="link" onClick={takeBack}>
      {t('action.undo')}
    </button>
  );
  add(id, text, { action });
  return close;
}

// The person goes on: what was said of the thing before would stand over the next one.
export function closeSaid() {
  for (const { id, tone, action, stay } of toasts) if (tone === 'good' && !action && !stay) away(id);
}

export function clearToasts() {
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  become([]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function Toasts() {
  const all = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={styles.place} role="status" aria-live="polite">
      {all.map(({ id, tone, text, action, stay }) => (
        <div
          key={id}
          className={styles.toast}
          onPointerEnter={() => clearTimeout(timers.get(id))}
          onPointerLeave={() => (stay ? undefined : leaveLater(id))}
        >
          {stay ? null : tone === 'good' ? (
            <IconCheck size={17} aria-hidden="true" />
          ) : (
            <Shape icon="octagon" colour="red" />
          )}
          <span>{text}</span>
          {action}
          <ActionIcon size={24} aria-label={t('action.close')} onClick={() => away(id)}>
            <IconX size={15} />
          </ActionIcon>
        </div>
      ))}
    </div>
  );
}
