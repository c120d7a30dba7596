// The receivers of the demonstration's outbound webhooks: one succeeds, one fails, one is not there any more, one answers that it is gone.
import { once } from 'node:events';
import http from 'node:http';

const ANSWERS = {
  good: [200, 'application/json', '{"ok":true}'],
  ill: [503, 'text/html', '<html><body>upstream connect error or disconnect/reset before headers</body></html>'],
  off: [404, 'text/html', '<h1>Not found</h1>'],
  gone: [410, 'text/plain', 'This receiver has moved.'],
};

// {urls by name, close()}.
export async function startReceivers() {
  const server = http.createServer((request, response) => {
    request.resume().once('end', () => {
      const [status, type, body] = ANSWERS[request.url.slice(1)] ?? ANSWERS.off;
      response.writeHead(status, { 'content-type': type }).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const urls = Object.fromEntries(
    Object.keys(ANSWERS).map((name) => [name, `http://127.0.0.1:${server.address().port}/${name}`]),
  );
  return { urls, close: () => server.closeAllConnections() ?? server.close() };
}
