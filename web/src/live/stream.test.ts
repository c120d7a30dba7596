// The reader of the events: it comes back after each end, where it was, and says when it is away.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readStream, type Batch, type Link } from './stream';

type Connection = {
  headers: Record<string, string>;
  send: (text: string) => Promise<void>;
  end: () => void;
  cut: () => void;
};
let connections: Connection[];
let answers: (() => Response | Promise<Response>)[]; // in the place of a stream
let batches: Batch[];
let links: Link[];
let stop: AbortController;

function open(headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const answer = answers.shift();
  if (answer) return Promise.resolve(answer());
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) });
  signal.addEventListener('abort', () => {
    try {
      controller.error(new DOMException('', 'AbortError'));
    } catch {
      // It has ended.
    }
  });
  connections.push({
    headers,
    send: async (text) => {
      controller.enqueue(new TextEncoder().encode(text));
      await vi.advanceTimersByTimeAsync(0);
    },
    end: () => controller.close(),
    cut: () => controller.error(new TypeError('network')),
  });
  return Promise.resolve(new Response(body));
}
const begin = (from: string | null = null) =>
  readStream(
    {
      open,
      onBatch: (batch) => batches.push(batch),
      onBeat: () => {},
      onLink: (link) => links.push(link),
      random: () => 0.5,
    },
    stop.signal,
    from,
  );
const event = (name: string, id: string, data: object) =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
const hello = (resumed = false) => event('hello', '7-0', { resumed });
const last = () => connections.at(-1)!;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  [connections, answers, batches, links, stop] = [[], [], [], [], new AbortController()];
});
afterEach(async () => {
  stop.abort();
  await pass(0);
  vi.useRealTimers();
});

test('events are passed on as they come, also where a chunk ends within one', async () => {
  begin();
  await pass(0);
  await last().send(hello());
  const one = event('delivery', '7-1', { id: 'del_1', version: 2 });
  await last().send(one.slice(0, 30));
  await last().send(one.slice(30) + ': heartbeat\n\n');
  expect(batches.flatMap(({ events }) => events)).toEqual([
    { event: 'hello', data: { resumed: false } },
    { event: 'delivery', data: { id: 'del_1', version: 2 } },
  ]);
  expect(batches.at(-1)?.lastId).toBe('7-1');
  expect(links).toEqual(['connecting', 'live']);
});

test('after an end it is back at once, after the last event, and was never away', async () => {
  begin();
  await pass(0);
  await last().send(hello() + event('order', '7-41', { id: 'ord_1' }));
  await pass(3_600_000 - 60_000 * 60 + 10_000); // signs of life are the service's matter; ten seconds are a good connection
  last().end(); // as when the token ends
  await pass(300);
  expect(connections.map(({ headers }) => headers)).toEqual([{}, { 'last-event-id': '7-41' }]);
  await last().send(hello(true));
  expect(links).toEqual(['connecting', 'live']);
});

test('it asks ever more seldom while nobody answers, says that it is away, and is live again', async () => {
  answers = Array.from({ length: 5 }, () => () => Promise.reject(new TypeError('network')));
  begin();
  await pass(1_999);
  expect(links).toEqual(['connecting']);
  await pass(1);
  expect(links).toEqual(['connecting', 'away']);
  // 0.25, 1, 2, 4, 8 seconds
  await pass(250 + 1_000 + 2_000 + 4_000 - 2_000 - 10);
  expect(answers.length).toBe(1);
  await pass(10);
  expect(answers.length).toBe(0);
  await pass(8_000);
  expect(connections.length).toBe(1);
  await last().send(hello());
  expect(links.at(-1)).toBe('live');
});

test('it waits no longer when it is nudged, as when the network is back', async () => {
  answers = Array.from({ length: 6 }, () => () => Promise.reject(new TypeError('network')));
  const { nudge } = begin();
  await pass(20_000);
  const before = answers.length + connections.length;
  nudge();
  await pass(0);
  expect(answers.length + connections.length).not.toBe(before);
});

test('a connection that may have died unheard is made anew, after the last event', async () => {
  const { renew } = begin();
  await pass(0);
  await last().send(hello() + event('order', '7-5', { id: 'ord_1' }));
  renew();
  await pass(300);
  expect(connections.map(({ headers }) => headers)).toEqual([{}, { 'last-event-id': '7-5' }]);
  expect(links).toEqual(['connecting', 'live']);
});

test('it waits as long as the service says', async () => {
  answers = [() => new Response('{}', { status: 429, headers: { 'retry-after': '5' } })];
  begin();
  await pass(4_990);
  expect(connections.length).toBe(0);
  await pass(20);
  expect(connections.length).toBe(1);
});

test('a connection that gives no sign of life is given up', async () => {
  begin();
  await pass(0);
  await last().send(hello());
  await pass(49_000);
  await last().send(': \n\n');
  await pass(49_000);
  expect(connections.length).toBe(1);
  await pass(1_500);
  expect(connections.length).toBe(2);
});

test('what is no event of ours is passed over', async () => {
  begin();
  await pass(0);
  await last().send(
    hello() + 'event: order\nid: 7-2\ndata: {"id":\n\n' + 'data: 7\n\n' + event('order', '7-3', { id: 'ord_3' }),
  );
  expect(batches.flatMap(({ events }) => events).map(({ event: name }) => name)).toEqual(['hello', 'order']);
  expect(batches.at(-1)?.lastId).toBe('7-3');
});

test('it ends when it is stopped', async () => {
  const { ended } = begin();
  await pass(0);
  stop.abort();
  await ended;
  await pass(60_000);
  expect(connections.length).toBe(1);
});
