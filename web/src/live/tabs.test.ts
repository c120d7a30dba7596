// Tabs: one of them reads for all, and another one goes on when it is closed.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Batch, Link } from './stream';
import { readShared } from './tabs';

let opened: { headers: Record<string, string>; controller: ReadableStreamDefaultController<Uint8Array> }[];
const open = (headers: Record<string, string>, signal: AbortSignal) => {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) });
  signal.addEventListener('abort', () => {
    try {
      controller.error(new DOMException('', 'AbortError'));
    } catch {
      // It has ended.
    }
  });
  opened.push({ headers, controller });
  return Promise.resolve(new Response(body));
};
const send = async (text: string) => {
  opened.at(-1)!.controller.enqueue(new TextEncoder().encode(text));
  await pass(0);
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

// One lock and one channel of the browser.
let queue: Promise<unknown>;
let channels: Set<Channel>;
class Channel {
  onmessage: BroadcastChannel['onmessage'] = null;
  constructor() {
    channels.add(this);
  }
  postMessage(data: unknown) {
    for (const other of channels) {
      if (other !== this) queueMicrotask(() => other.onmessage?.call(other as never, { data } as MessageEvent));
    }
  }
  close() {
    channels.delete(this);
  }
}
const locks = {
  request: (_: string, options: { signal: AbortSignal }, work: () => Promise<void>) => {
    const turn = queue.then(() => (options.signal.aborted ? undefined : work()));
    queue = turn;
    return turn;
  },
} as unknown as LockManager;

const stops: AbortController[] = [];
function tab(withLocks = true) {
  const it = { links: [] as Link[], batches: [] as Batch[], stop: new AbortController() };
  stops.push(it.stop);
  readShared(
    { locks: withLocks ? locks : undefined, channel: new Channel() as never, lock: 'x' },
    {
      open,
      onBatch: (batch) => it.batches.push(batch),
      onBeat: () => {},
      onLink: (link) => it.links.push(link),
      random: () => 0.5,
    },
    it.stop.signal,
  );
  return it;
}
const names = ({ batches }: { batches: Batch[] }) => batches.flatMap(({ events }) => events).map(({ event }) => event);
const HELLO = 'event: hello\nid: 7-0\ndata: {"resumed":false}\n\n';
const order = (n: number) => `event: order\nid: 7-${n}\ndata: {"id":"ord_${n}"}\n\n`;

beforeEach(() => {
  vi.useFakeTimers();
  [opened, channels, queue] = [[], new Set(), Promise.resolve()];
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  await pass(0);
  vi.useRealTimers();
});

test('two tabs have one connection, and both get the events', async () => {
  const first = tab();
  await pass(0);
  await send(HELLO);
  const second = tab();
  await pass(0);
  await send(order(1));
  expect(opened.length).toBe(1);
  expect(names(first)).toEqual(['hello', 'order']);
  // The second one has missed the changes before it listened: it reads all anew.
  expect(names(second)).toEqual(['reset', 'order']);
  expect([first.links.at(-1), second.links.at(-1)]).toEqual(['live', 'live']);
});

test('when the tab that reads is closed, the next one goes on after the last event', async () => {
  const first = tab();
  await pass(0);
  await send(HELLO);
  const second = tab();
  await pass(0);
  await send(order(4));
  first.stop.abort();
  await pass(0);
  expect(opened.map(({ headers }) => headers)).toEqual([{}, { 'last-event-id': '7-4' }]);
  await send(HELLO.replace('false', 'true') + order(5));
  expect(names(second)).toEqual(['reset', 'order', 'hello', 'order']);
  expect(second.links).toEqual(['connecting', 'live', 'live']);
});

test('a tab whose reader has fallen silent says that it is away', async () => {
  const first = tab();
  await pass(0);
  await send(HELLO);
  const second = tab();
  await pass(0);
  for (const channel of channels) channel.postMessage = () => undefined; // the first one is frozen
  expect(first.links.at(-1)).toBe('live');
  await pass(60_000);
  expect(second.links.at(-1)).toBe('away');
});

test('without locks each tab reads for itself', async () => {
  tab(false);
  tab(false);
  await pass(0);
  expect(opened.length).toBe(2);
});
