// Where the focus is once a delivery is solved, by the person at the page or by somebody else.
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { useEffect, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { aDelivery, failedFor } from '@/testing/delivery';
import { toast, Toasts } from '@/components/toasts';
import { show } from '@/testing/render';
import { FixFlow } from './FixFlow';
import { useStay } from './onward';
import type { Delivery } from './types';
import type { Walk } from './walk';

const go = vi.fn();
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => go,
}));

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  go.mockReset();
  pressed.mockReset();
});

const [failed, solved] = [failedFor('internal_error'), aDelivery({ status: 'queued' })];
const walk: Walk = { rows: [failed, { id: 'del_2', orderNumber: '#2', orderId: '2' }], place: 0, n: 1, total: 2 };

// A page with a panel whose button is gone once the delivery is solved.
const solve = () => window.dispatchEvent(new Event('solved'));
function Page({ walk }: { walk: Walk | null }) {
  const [it, setIt] = useState(failed);
  useEffect(() => {
    const hear = () => setIt(solved);
    window.addEventListener('solved', hear);
    return () => window.removeEventListener('solved', hear);
  }, []);
  return (
    <>
      <h1 tabIndex={-1}>{'Order'}</h1>
      <button>{'Elsewhere'}</button>
      <FixFlow it={it} list={undefined} walk={walk}>
        {it === failed ? <button>{'Retry'}</button> : <p>{'It is queued.'}</p>}
      </FixFlow>
    </>
  );
}
const button = (name: string) => screen.getByRole('button', { name });

test('who reads on is left alone where it is solved elsewhere', async () => {
  await show(<Page walk={walk} />);
  const focus = vi.spyOn(HTMLElement.prototype, 'focus');
  act(() => void solve());
  expect(focus).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(document.body);
});
test('so is who was in the panel, and has gone elsewhere', async () => {
  await show(<Page walk={walk} />);
  button('Retry').focus();
  button('Elsewhere').focus();
  button('Elsewhere').blur();
  const focus = vi.spyOn(HTMLElement.prototype, 'focus');
  act(() => void solve());
  expect(focus).not.toHaveBeenCalled();
});
test('who was in the panel goes on with the next one', async () => {
  await show(<Page walk={walk} />);
  button('Retry').focus();
  act(() => void solve());
  expect(document.activeElement).toBe(button('Next: #2'));
});
test('who goes on leaves behind what was said, and takes what failed along', async () => {
  await show(
    <>
      <Page walk={walk} />
      <Toasts />
    </>,
  );
  act(() => {
    solve();
    toast('Approved.');
    toast('Not done.', { tone: 'bad' });
  });
  fireEvent.click(button('Next: #2'));
  expect(screen.queryByText('Approved.')).toBeNull();
  expect(screen.getByText('Not done.')).toBeTruthy();
  expect(go).toHaveBeenCalledOnce();
});
test.each([
  ['queued', 1],
  ['invalidated', 0],
] as const)('the next one stands in a panel of its own only with words: %s', async (status, panels) => {
  const Stopped = () => {
    const [it, setIt] = useState(failed);
    return (
      <FixFlow it={it} list={undefined} walk={walk}>
        <button onClick={() => setIt(aDelivery({ status }))}>{'Stop'}</button>
      </FixFlow>
    );
  };
  await show(<Stopped />);
  fireEvent.click(button('Stop'));
  expect(button('Next: #2')).toBeTruthy();
  expect(document.querySelectorAll('[data-tone="teal"]')).toHaveLength(panels);
});
test('and without a next one is at the name of the page, which stays where it is', async () => {
  await show(<Page walk={null} />);
  button('Retry').focus();
  const focus = vi.spyOn(HTMLElement.prototype, 'focus');
  act(() => void solve());
  expect(document.activeElement?.tagName).toBe('H1');
  expect(focus).toHaveBeenCalledWith({ preventScroll: true });
});

// The page with a panel that says what its action comes to.
const pressed = vi.fn();
let change: (it: Delivery) => void;
let stay: () => void;
function Action() {
  const now = useStay();
  useEffect(() => {
    stay = now;
  }, [now]);
  return (
    <>
      <button data-variant="filled" onClick={pressed}>
        {'Retry'}
      </button>
      <a href="/inside">{'A link inside'}</a>
    </>
  );
}
function Keys() {
  const [it, setIt] = useState<Delivery>(failed);
  useEffect(() => {
    change = setIt;
  }, []);
  return (
    <>
      <a href="/elsewhere">{'A link'}</a>
      <button>{'Elsewhere'}</button>
      <FixFlow it={it} list={undefined} walk={walk}>
        <Action />
      </FixFlow>
    </>
  );
}
const ctrlEnter = (at: Element) => act(() => void fireEvent.keyDown(at, { key: 'Enter', ctrlKey: true }));
const becomes = (it: Delivery) => act(() => change(it));

test('Ctrl and Enter act from the panel and from the page, but not from another control or a link', async () => {
  await show(<Keys />);
  for (const other of ['A link', 'Elsewhere', 'A link inside']) ctrlEnter(screen.getByText(other));
  expect(pressed).not.toHaveBeenCalled();
  ctrlEnter(button('Retry'));
  ctrlEnter(document.body);
  expect(pressed).toHaveBeenCalledTimes(2);
  becomes(solved);
  expect(go).toHaveBeenCalledOnce();
});
test('they lead on no longer once the action has failed', async () => {
  await show(<Keys />);
  ctrlEnter(document.body);
  act(() => stay());
  becomes(solved);
  expect(go).not.toHaveBeenCalled();
});
test('nor once the delivery has another panel', async () => {
  await show(<Keys />);
  ctrlEnter(document.body);
  becomes(failedFor('username_not_found'));
  becomes(solved);
  expect(go).not.toHaveBeenCalled();
});

test.each([
  [solved, 1, 0],
  [aDelivery({ status: 'completed', completedAt: '2026-11-22T13:24:05.000Z' }), 1, 0],
  [aDelivery({ status: 'waiting_for_friendship' }), 0, 1],
  [aDelivery({ status: 'failed', pendingAction: 'stop' }), 0, 1],
])('once it is solved its state is said once, beside the button or in its panel: %#', async (now, lines, panels) => {
  await show(<Keys />);
  becomes(now);
  expect(button('Next: #2')).toBeTruthy();
  expect(screen.queryAllByText(/^(Queued|Completed|Waiting for buyer|Failed)$/)).toHaveLength(lines);
  expect(screen.queryAllByText('A link inside')).toHaveLength(panels);
});
