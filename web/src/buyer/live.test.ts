import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { follow } from './live';

const heard: string[] = [];
const ears = {
  open: () => void heard.push('open'),
  changed: () => void heard.push('changed'),
  id: (id: string) => void heard.push(`id ${id}`),
};
let asked: RequestInit[];
// Each answer is sent in pieces, as a network cuts them; null: the connection stays open and silent.
function answers(pieces: (string | null)[], status = 200) {
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
    asked.push(init);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        init.signal?.addEventListener('abort', () => controller.error(new DOMException('', 'AbortError')));
        for (const piece of pieces) if (piece !== null) controller.enqueue(new TextEncoder().encode(piece));
        if (!pieces.includes(null)) controller.close();
      },
    });
    return Promise.resolve(new Response(body, { status }));
  });
}
const open = new AbortController().signal;

beforeEach(() => {
  heard.length = 0;
  asked = [];
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a change is heard, wherever the network cuts the events, and a comment is none', async () => {
  answers([
    'event: hel',
    'lo\nid: 1-0\ndata: {"resumed":',
    'false}\n\n: alive\n\nevent: deliv',
    'ery\nid: 2-0\ndata: {}\n\n',
  ]);
  await follow('token', '', open, ears);
  expect(heard).toEqual(['open', 'id 1-0', 'changed', 'id 2-0', 'changed']);
  expect(new Headers(asked[0]?.headers).get('x-buyer-token')).toBe('token');
  expect(new Headers(asked[0]?.headers).has('last-event-id')).toBe(false);
});

test('who goes on where it was has missed nothing', async () => {
  answers(['event: hello\r\nid: 7-0\r\ndata: {"resumed": true}\r\n\r\n']);
  await follow('token', '7-0', open, ears);
  expect(heard).toEqual(['open', 'id 7-0']);
  expect(new Headers(asked[0]?.headers).get('last-event-id')).toBe('7-0');
});

test.each([404, 429, 503])('a refusal (%s) is an end without a word', async (status) => {
  answers(['{"error":{}}'], status);
  await follow('token', '', open, ears);
  expect(heard).toEqual([]);
});

test('no network is an end', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  await follow('token', '', open, ears);
  expect(heard).toEqual([]);
});

test('a connection that is silent for too long is given up', async () => {
  vi.useFakeTimers();
  answers([null]);
  let ended = false;
  const done = follow('token', '', open, ears).then(() => (ended = true));
  await vi.advanceTimersByTimeAsync(64_000);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  await done;
});

test('who leaves ends it', async () => {
  answers([null]);
  const leave = new AbortController();
  const done = follow('token', '', leave.signal, ears);
  leave.abort();
  await done;
  expect(asked[0]?.signal?.aborted).toBe(true);
});

test('an event without an end does not fill the memory', async () => {
  answers(['x'.repeat(20_000), null]);
  await follow('token', '', open, ears);
  expect(heard).toEqual(['open']);
});
