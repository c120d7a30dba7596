// Hears when the delivery changes (GET /api/buyer/events): server-sent events over fetch, as the token stands in a header.

// Longer than the service is silent on a connection that lives.
const SILENCE_MS = 65_000;
const LONGEST_EVENT = 16_384; // characters; the service's are far smaller

interface Heard {
  open: () => void; // the service answers: from now on nothing is missed
  changed: () => void;
  id: (id: string) => void; // where to go on after an end
}

// Until one side ends it, or `signal` does. Every fault is an end: the caller retries, and polls meanwhile.
export async function follow(token: string, lastId: string, signal: AbortSignal, heard: Heard): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal.addEventListener('abort', end);
  let timer = 0;
  const alive = () => {
    clearTimeout(timer);
    timer = window.setTimeout(end, SILENCE_MS);
  };
  alive();
  try {
    const response = await fetch('/api/buyer/events', {
      headers: { 'x-buyer-token': token, ...(lastId ? { 'last-event-id': lastId } : {}) },
      cache: 'no-store',
      credentials: 'omit',
      signal: ended.signal,
    });
    if (!response.ok || !response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    heard.open();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      const parts = (rest + value).split(/\r?\n\r?\n/);
      rest = parts.pop() ?? '';
      for (const part of parts) tell(part, heard);
      if (rest.length > LONGEST_EVENT) return void reader.cancel();
    }
  } catch {
    // Ended.
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

function tell(part: string, heard: Heard) {
  const fields = new Map<string, string>();
  for (const line of part.split(/\r?\n/)) {
    const found = /^(id|event|data): ?(.*)$/.exec(line);
    if (found) fields.set(found[1] ?? '', found[2] ?? '');
  }
  const id = fields.get('id');
  if (id) heard.id(id);
  const event = fields.get('event');
  // Where it does not go on where it was, it may have changed meanwhile.
  if (event === 'delivery' || (event === 'hello' && !/"resumed":\s*true/.test(fields.get('data') ?? '')))
    heard.changed();
}
