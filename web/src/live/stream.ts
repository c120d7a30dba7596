// Reads GET /api/events for as long as somebody wants it: comes back where it was after each end, with a new token after the old one,
// and says whether what is shown follows the service. No framework here: the surroundings are parameters.
import { createParser, type EventSourceMessage } from 'eventsource-parser';

export type LiveEvent = { event: string; data: Record<string, unknown> };
export type Batch = { events: LiveEvent[]; lastId: string | null };
export type Link = 'connecting' | 'live' | 'away';

export type Surroundings = {
  // With a token that is good. Rejects where no answer comes.
  open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;
  onBatch: (batch: Batch) => void; // what one piece of the answer held
  onBeat: () => void; // something came, if only a sign of life
  onLink: (link: Link) => void;
  random?: () => number;
};

const SILENT_MS = 50_000; // the service gives a sign of life every 20 s
const GRACE_MS = 2_000; // a connection that is back so soon was never away
const SOON_MS = 250;
const STEADY_MS = 5_000; // a connection that lasted so long was a good one
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

function eventOf({ event, data }: EventSourceMessage): LiveEvent | null {
  try {
    const value: unknown = JSON.parse(data);
    return event !== undefined && typeof value === 'object' && value !== null
      ? { event, data: value as Record<string, unknown> }
      : null;
  } catch {
    return null;
  }
}

// nudge(): ask now, if it is waiting to. renew(): also where a connection seems to be there, which may have died unheard.
export type Stream = { nudge: () => void; renew: () => void; ended: Promise<void> };

export function readStream(
  { open, onBatch, onBeat, onLink, random = Math.random }: Surroundings,
  signal: AbortSignal,
  from: string | null = null,
): Stream {
  let lastId = from;
  let failures = 0;
  let link: Link | null = null;
  let grace: ReturnType<typeof setTimeout> | undefined;
  let wake = () => {};
  let cut = () => {};

  const become = (next: Link) => {
    clearTimeout(grace);
    grace = undefined;
    if (next === link) return;
    link = next;
    onLink(next);
  };
  const awaySoon = () => {
    grace ??= setTimeout(() => become('away'), GRACE_MS);
  };
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  // Until the connection ends. Returns for how long to wait then, or null where that is for the reader to say.
  async function readOnce(): Promise<number | null> {
    const here = new AbortController();
    const stop = () => here.abort();
    cut = stop;
    signal.addEventListener('abort', stop);
    let silence = setTimeout(stop, SILENT_MS);
    try {
      const response = await open(lastId === null ? {} : { 'last-event-id': lastId }, here.signal);
      const seconds = Number(response.headers.get('retry-after'));
      if (!response.ok || !response.body) return seconds > 0 ? seconds * 1000 : null;
      let events: LiveEvent[] = [];
      const parser = createParser({
        onEvent: (message) => {
          if (message.id) lastId = message.id;
          const one = eventOf(message);
          if (one) events.push(one);
        },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return null;
        clearTimeout(silence);
        silence = setTimeout(stop, SILENT_MS);
        onBeat();
        parser.feed(value);
        if (events.length === 0) continue;
        const batch = { events, lastId };
        events = [];
        if (batch.events.some(({ event }) => event === 'hello')) become('live');
        onBatch(batch);
      }
    } catch {
      return null; // cut off
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      here.abort();
    }
  }

  async function read() {
    onLink((link = 'connecting'));
    while (!signal.aborted) {
      awaySoon();
      const begun = Date.now();
      const asked = await readOnce();
      if (signal.aborted) break;
      awaySoon();
      if (Date.now() - begun > STEADY_MS) failures = 0;
      // The first time at once, as after a token's end; then ever later, and not all readers together.
      const own = failures === 0 ? SOON_MS : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      failures += 1;
      await pause((asked ?? own) * (0.75 + random() / 2));
    }
    clearTimeout(grace);
  }
  signal.addEventListener('abort', () => wake());
  const nudge = () => wake();
  const renew = () => {
    failures = 0;
    cut();
    wake();
  };
  return { nudge, renew, ended: read() };
}
