import { act, cleanup, render } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { Announce } from './Announce';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('a text that is over is never read, though the next one waits its turn', () => {
  vi.useFakeTimers();
  const { container, rerender } = render(<Announce text="Failed" />);
  const now = (text: string, ms: number) => {
    rerender(<Announce text={text} />);
    act(() => void vi.advanceTimersByTime(ms));
    return container.textContent;
  };
  expect(now('Queued', 100)).toBe('Queued');
  expect(now('Failed', 100)).toBe('');
  expect(now('Failed', 3_000)).toBe('Failed');
});
