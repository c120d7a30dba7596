// A receiver of outbound webhooks for Node 18 or newer, with nothing but its standard library.
//   WEBHOOK_SECRET=whsec_… PORT=3000 INBOX=inbox node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const SECRET = process.env.WEBHOOK_SECRET;
const INBOX = process.env.INBOX ?? 'inbox';
const TOLERANCE_S = 300;
const LONGEST_BODY = 1024 * 1024;
mkdirSync(INBOX, { recursive: true });

function equal(a, b) {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
const hmac = (key, ...parts) => parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key));

// Why it is not taken; null: it is. `body`: the bytes as they came. Both signatures must stand up; while a secret is rotated the old one
// still does.
export function refusalOf(headers, body) {
  const id = headers['webhook-id'] ?? '';
  const time = headers['webhook-timestamp'] ?? '';
  if (!/^[\w-]{1,64}$/.test(id)) return 'webhook-id is missing or has another form';
  if (!/^\d{1,12}$/.test(time)) return 'webhook-timestamp is missing or has another form';
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_S)
    return `webhook-timestamp is more than ${TOLERANCE_S} seconds away`;
  const standard =
    'v1,' + hmac(Buffer.from(SECRET.slice('whsec_'.length), 'base64'), `${id}.${time}.`, body).digest('base64');
  const vendor = 'sha256=' + hmac(SECRET, body).digest('hex');
  if (!(headers['webhook-signature'] ?? '').split(' ').some((sent) => equal(sent, standard)))
    return 'webhook-signature is not of this secret and body';
  if (!['', '-previous', '-older'].some((which) => equal(headers[`x-vendor-signature${which}`] ?? '', vendor))) {
    return 'x-vendor-signature is not of this secret and body';
  }
  return null;
}

// Keeps the event under its id; false: it is there already. A database does it with a unique key.
function keep(id, body) {
  const draft = `${INBOX}/${id}.${process.pid}.draft`;
  writeFileSync(draft, body);
  try {
    linkSync(draft, `${INBOX}/${id}.json`);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

// Events of a delivery may overtake each other: an older one than the newest known changes nothing.
function isNews({ deliveryId, delivery }) {
  if (!deliveryId || !delivery) return true; // of something else: read its type
  const file = `${INBOX}/${deliveryId}.sequence`;
  let known = 0;
  try {
    known = Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (delivery.sequence <= known) return false;
  writeFileSync(`${file}.draft`, String(delivery.sequence));
  renameSync(`${file}.draft`, file);
  return true;
}

// Handles the event after the answer was sent. Ignore types that you do not know.
function work(event) {
  console.log(
    isNews(event) ? `${event.type} ${event.deliveryId ?? '-'} ${event.delivery?.status ?? '-'}` : `old ${event.id}`,
  );
}

createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end();
  const refuse = (status, why) => {
    console.log(`refused ${status}: ${why}`);
    answer(status);
  };
  if (request.method !== 'POST') return refuse(405, 'it is no POST');
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > LONGEST_BODY) return refuse(413, 'the body is longer than 1 MiB');
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const why = refusalOf(request.headers, body);
  if (why) return refuse(401, why);
  const fresh = keep(request.headers['webhook-id'], body);
  answer(200); // it is kept: what follows may take its time
  if (fresh) work(JSON.parse(body));
  else console.log(`duplicate ${request.headers['webhook-id']}`);
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', function () {
  console.log(`listening on http://127.0.0.1:${this.address().port}`);
});
