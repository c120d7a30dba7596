// Some requests want a sign-in that is not old (403 STEP_UP_REQUIRED). Whoever sends one waits here until the person has confirmed.
type Waiting = { promise: Promise<boolean>; settle: (confirmed: boolean) => void };

let waiting: Waiting | null = null;
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};

export const stepUp = {
  // Resolves to whether it was confirmed. All that ask at one time are answered by one confirmation.
  ask(): Promise<boolean> {
    if (!waiting) {
      let settle: Waiting['settle'] = () => undefined;
      const promise = new Promise<boolean>((resolve) => (settle = resolve));
      waiting = { promise, settle };
      tell();
    }
    return waiting.promise;
  },
  answer(confirmed: boolean) {
    const { settle } = waiting ?? {};
    waiting = null;
    tell();
    settle?.(confirmed);
  },
  isAsking: () => waiting !== null,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
