// The one way to the service: typed by the contract, with the token of the session, every failure an ApiError.
import createClient from 'openapi-fetch';
import { personOf, session } from '@/session';
import { stepUp } from '@/session/step_up';
import { ApiError, errorOfAnswer, errorOfNetwork } from './errors';
import type { components, paths } from './schema.mjs';

export type Schemas = components['schemas'];

const withToken = (request: Request, token: string) => {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${token}`);
  return new Request(request, { headers });
};

const send = (request: Request) =>
  fetch(request).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === 'AbortError' ? error : errorOfNetwork();
  });

// A request is sent for the person who made it, never with the token of the next one.
export async function authorized(request: Request): Promise<Response> {
  const asker = personOf(session.get());
  const token = await session.token();
  const person = personOf(session.get());
  if (asker !== null && asker !== person) throw new ApiError(401, 'UNAUTHORIZED', '');
  const spare = request.clone();
  const response = await send(withToken(request, token));
  if (response.status !== 401 && response.status !== 403) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const { code } = errorOfAnswer(response, body);
  if (personOf(session.get()) !== person) return response;
  if (code === 'STEP_UP_REQUIRED') {
    if (!(await stepUp.ask(`${request.method} ${new URL(request.url).pathname}`))) return response;
    const confirmed = await session.token();
    return personOf(session.get()) === person ? send(withToken(spare, confirmed)) : response;
  }
  if (response.status !== 401 || code !== 'UNAUTHORIZED') return response; // as the cloud platform's refusal of a login
  const next = await session.tokenAfter(token);
  return next && personOf(session.get()) === person ? send(withToken(spare, next)) : response;
}

export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: authorized });

// The body of a good answer; anything else is thrown.
export async function ok<Data>(answer: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw errorOfAnswer(response, error);
  return data as Data;
}

// The public routes, without a session.
export const open = createClient<paths>({ baseUrl: window.location.origin });
