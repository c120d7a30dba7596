// Identity providers elsewhere, on loopback: a real one (npm oidc-provider), and one that says whatever a test wants it to say. They are at
// `localhost`, which to a browser is another site than 127.0.0.1.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

async function serve(scope, handler, port = 0) {
  const server = http.createServer(handler);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  scope.after(stop);
  return { port: server.address().port, stop };
}

async function key(algorithm = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = createHash('sha256')
    .update(JSON.stringify(await exportJWK(publicKey)))
    .digest('base64url');
  return {
    privateKey,
    kid,
    jwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
    public: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' },
  };
}

// `person`: who signs in there; null: they cancel. Its keys change with each start().
export class RealIssuer {
  person = 'ann';
  constructor(scope, { secret = 'a secret of the client', algorithm = 'ES256' } = {}) {
    Object.assign(this, { scope, secret, algorithm, clientId: 'bridge' });
  }
  get iss() {
    return `http://localhost:${this.port}`;
  }
  // `redirectUris`: of the client; a list that may be filled later.
  async start(redirectUris = this.redirectUris) {
    this.redirectUris = redirectUris;
    let handler;
    const { port, stop } = await serve(this.scope, (request, response) => handler(request, response), this.port);
    Object.assign(this, { port, stop });
    const provider = new Provider(this.iss, {
      clients: [
        {
          client_id: this.clientId,
          client_secret: this.secret,
          redirect_uris: [...redirectUris],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          id_token_signed_response_alg: this.algorithm,
        },
      ],
      jwks: { keys: [(await key(this.algorithm)).jwk] },
      cookies: { keys: ['of this test'] },
      features: { devInteractions: { enabled: false } },
      conformIdTokenClaims: false,
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      pkce: { required: () => true },
      interactions: { url: (context, { uid }) => `/interaction/${uid}` },
      findAccount: (context, sub) => ({
        accountId: sub,
        claims: () => ({ sub, email: `${sub}@shop.example`, email_verified: true }),
      }),
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
    });
    const callback = provider.callback();
    handler = (request, response) => {
      if (!request.url.startsWith('/interaction/')) return callback(request, response);
      const result =
        this.person === null
          ? { error: 'access_denied', error_description: 'cancelled' }
          : { login: { accountId: this.person } };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    };
    return this;
  }
}

// Says what `claims` makes of the right ones, in an ID token that `sign` signs; `token` makes the whole answer of the token endpoint:
// {status, body}. It takes every code, however often.
export class LyingIssuer {
  claims = (right) => right;
  token = (idToken) => ({ status: 200, body: { access_token: 'x', token_type: 'Bearer', id_token: idToken } });
  discovery = (right) => right;
  codes = 0;
  static async start(scope) {
    const it = new LyingIssuer();
    it.key = await key();
    it.other = await key();
    it.signer = it.key;
    const { port } = await serve(scope, (request, response) => it.#answer(request, response));
    it.iss = `http://localhost:${port}`;
    return it;
  }
  async #answer(request, response) {
    const say = ({ status = 200, body, headers = {} }) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    const url = new URL(request.url, this.iss);
    if (url.pathname === '/.well-known/openid-configuration') {
      return say({
        body: this.discovery({
          issuer: this.iss,
          jwks_uri: `${this.iss}/jwks`,
          authorization_endpoint: `${this.iss}/auth?fixed=1`,
          token_endpoint: `${this.iss}/token`,
        }),
      });
    }
    if (url.pathname === '/jwks') return say({ body: { keys: [this.key.public] } });
    if (url.pathname === '/auth') {
      this.asked = Object.fromEntries(url.searchParams);
      const back = new URL(this.asked.redirect_uri);
      back.search = new URLSearchParams({ code: `code-${++this.codes}`, state: this.asked.state });
      return say({ status: 303, body: '', headers: { location: String(back), 'content-type': 'text/html' } });
    }
    if (url.pathname === '/token') {
      const now = Math.floor(Date.now() / 1000);
      const right = {
        iss: this.iss,
        sub: 'liar',
        aud: 'bridge',
        iat: now,
        exp: now + 300,
        nonce: this.asked.nonce,
        auth_time: now,
        email: 'liar@shop.example',
      };
      const token = await new SignJWT(this.claims(right))
        .setProtectedHeader({ alg: 'ES256', kid: this.signer.kid })
        .sign(this.signer.privateKey);
      return say(this.token(token));
    }
    return say({ status: 404, body: {} });
  }
}
