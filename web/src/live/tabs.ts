// One connection for all tabs of a browser: the tab that holds the lock reads and notifies the others over a channel. When it is closed
// the next one gets the lock and goes on after the last event that it received. Without locks each tab reads for itself.
import { readStream, type Batch, type Link, type Stream, type Surroundings } from './stream';

type Message = { type: 'batch'; batch: Batch } | { type: 'link'; link: Link } | { type: 'beat' } | { type: 'who' };
type Channel = Pick<BroadcastChannel, 'postMessage' | 'close'> & { onmessage: BroadcastChannel['onmessage'] };
type Shared = {
  locks: Pick<LockManager, 'request'> | undefined;
  channel: Channel;
  lock: string;
};

const SILENT_MS = 60_000; // the tab that reads may be frozen
const UNANSWERED_MS = 2_000;

export function readShared(
  { locks, channel, lock }: Shared,
  { open, onBatch, onBeat, onLink }: Surroundings,
  signal: AbortSignal,
): Pick<Stream, 'nudge' | 'renew'> {
  let stream: Stream | undefined;
  let lastId: string | null = null;
  let link: Link = 'connecting';
  let silence: ReturnType<typeof setTimeout> | undefined;

  const tell = (message: Message) => signal.aborted || channel.postMessage(message);
  const become = (next: Link) => {
    if (next === link) return;
    const joins = next === 'live' && !stream; // what came before this tab listened, it has not heard
    link = next;
    onLink(next);
    if (joins) onBatch({ events: [{ event: 'reset', data: {} }], lastId });
  };
  const listen = (ms: number) => {
    clearTimeout(silence);
    silence = setTimeout(() => become('away'), ms);
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (signal.aborted) return;
    if (data.type === 'who') {
      if (stream) tell({ type: 'link', link });
      return;
    }
    if (stream) return;
    listen(SILENT_MS);
    if (data.type === 'link') become(data.link);
    else if (data.type === 'beat') become('live');
    else {
      lastId = data.batch.lastId ?? lastId;
      onBatch(data.batch);
    }
  };

  async function lead() {
    if (signal.aborted) return;
    clearTimeout(silence);
    stream = readStream(
      {
        open,
        onBatch: (batch) => {
          tell({ type: 'batch', batch });
          onBatch(batch);
        },
        onBeat: () => {
          tell({ type: 'beat' });
          onBeat();
        },
        onLink: (next) => {
          if (next === 'connecting' && link !== 'connecting') return; // taken over: as it was, until that fails
          link = next;
          tell({ type: 'link', link: next });
          onLink(next);
        },
      },
      signal,
      lastId,
    );
    await stream.ended;
  }

  onLink(link);
  if (locks) {
    tell({ type: 'who' });
    listen(UNANSWERED_MS);
    locks.request(lock, { signal }, lead).catch(() => undefined); // given up before it was its turn
  } else void lead();
  signal.addEventListener('abort', () => {
    clearTimeout(silence);
    channel.close();
  });
  return { nudge: () => stream?.nudge(), renew: () => stream?.renew() };
}
