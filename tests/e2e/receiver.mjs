// A subscriber's endpoint: takes outbound webhooks, keeps them as they came, and checks their signatures with code that
// this project did not write.
import { once } from 'node:events';
import http from 'node:http';
import { verify as verifyHex } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { until } from './harness.mjs';

// `answer(request, number)` may return {status, headers, body} (default: 204). `requests` holds {headers, body} in the
// order of arrival.
export async function startReceiver(scope, { answer = () => ({}) } = {}) {
  const requests = [];
  const server = http.createServer(async (incoming, response) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = {
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    const { status = 204, headers = {}, body } = await answer(request, requests.push(request));
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    requests,
    // The first request that `matches` its parsed body, now or later.
    waitFor: (what, matches, deadlineMs) =>
      until(what, () => requests.find((request) => matches(JSON.parse(request.body), request)), deadlineMs),
  };
}

// Throws unless both signatures of an outbound webhook (spec 10.3) stand up to their witnesses. Returns the event.
export async function verifiedEvent(request, secret) {
  const hex = request.headers['x-vendor-signature'];
  if (!hex || !(await verifyHex(secret, request.body, hex)))
    throw new Error(`X-Vendor-Signature does not verify: ${hex}`);
  const event = new Webhook(secret).verify(request.body, request.headers);
  if (request.headers['x-vendor-event'] !== event.type)
    throw new Error(`X-Vendor-Event is not the event's type: ${event.type}`);
  return event;
}
