import { afterEach, expect, test, vi } from 'vitest';
import { collectTyping } from './early';

const shortcut = vi.fn();
function type(...keys: string[]) {
  for (const key of keys) {
    const control = key.startsWith('Control+');
    document.body.dispatchEvent(
      new KeyboardEvent('keydown', {
        key: key.replace('Control+', ''),
        ctrlKey: control,
        bubbles: true,
        cancelable: true,
      }),
    );
  }
}
function listen() {
  document.addEventListener('keydown', shortcut);
}
afterEach(() => {
  document.removeEventListener('keydown', shortcut);
  document.body.replaceChildren();
  shortcut.mockClear();
});

test('letters that are typed before the palette is there are kept, and press no shortcut', () => {
  listen();
  const typed = collectTyping();
  type('t', 'w', 'x', 'Backspace', 'e', 'Control+k', 'ArrowDown');
  expect(typed()).toBe('twe');
  expect(shortcut.mock.calls.map(([event]) => (event as KeyboardEvent).key)).toEqual(['k', 'ArrowDown']);
});

test('what is typed in a dialog is its own', () => {
  const typed = collectTyping();
  document.body.innerHTML = '<div role="dialog"><input></div>';
  type('a');
  document.querySelector('input')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'b', bubbles: true }));
  expect([typed(), typed()]).toEqual(['a', '']);
});

test('what comes after is for the page', () => {
  listen();
  const typed = collectTyping();
  typed();
  type('?');
  expect([typed(), shortcut.mock.calls.length]).toEqual(['', 1]);
});
