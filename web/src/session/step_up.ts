// Some requests need a recent sign-in (403 STEP_UP_REQUIRED). Their callers wait here until the person has confirmed.
import { onPersonGone } from '.';

type Waiting = { request: string; promise: Promise<boolean>; settle: (confirmed: boolean) => void };

// An identity provider confirms in a tab of its own.
const channel = new BroadcastChannel('presetbridge-step-up');
channel.onmessage = () => stepUp.answer(true);

let waiting: Waiting | null = null;
const listeners = new Set<() => void>();
const notify = () => {
  for (const listener of listeners) listener();
};

export const stepUp = {
  // Resolves to whether it was confirmed. One confirmation answers all callers that wait. `request`: the method and address of the request
  // that needs it.
  ask(request = ''): Promise<boolean> {
    if (!waiting) {
      let settle: Waiting['settle'] = () => undefined;
      const promise = new Promise<boolean>((resolve) => (settle = resolve));
      waiting = { request, promise, settle };
      notify();
    }
    return waiting.promise;
  },
  answer(confirmed: boolean) {
    const { settle } = waiting ?? {};
    waiting = null;
    notify();
    settle?.(confirmed);
  },
  // For the tab that the provider came back to: the person of this browser's session has confirmed.
  notifyOtherTabs: () => channel.postMessage('confirmed'),
  isAsking: () => waiting !== null,
  request: () => waiting?.request ?? '',
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

// The next person is not asked to confirm what another one began.
onPersonGone(() => stepUp.answer(false));
