import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contract } from './contract.mjs';

const json = (schema) => ({ content: { 'application/json': { schema } } });
const contract = new Contract({
  openapi: '3.1.0',
  info: { title: 'a small one', version: '1' },
  paths: {
    '/api/keys/{id}': {
      get: {
        responses: { 200: json({ $ref: '#/components/schemas/Key' }), 404: { $ref: '#/components/responses/Missing' } },
      },
      delete: { responses: { 204: { description: 'gone' } } },
    },
    '/api/keys/export': { get: { responses: { '2XX': { content: { 'text/csv': {} } } } } },
  },
  components: {
    schemas: {
      Key: {
        type: 'object',
        required: ['id', 'createdAt'],
        additionalProperties: false,
        properties: { id: { type: 'string' }, createdAt: { type: 'string', format: 'date-time' } },
      },
    },
    responses: { Missing: json({ type: 'object', required: ['error'] }) },
  },
});

function answer(method, path, status, body, type = 'application/json') {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const whole = {
    method,
    path,
    status,
    headers: body === undefined ? {} : { 'content-type': `${type}; charset=utf-8` },
    text,
  };
  return typeof body === 'object' ? { ...whole, json: body } : whole;
}
const good = { id: 'key_1', createdAt: '2026-01-02T03:04:05.678Z' };

test('an answer that keeps the contract passes', () => {
  contract.check(answer('GET', '/api/keys/key_1?fields=all', 200, good));
  contract.check(answer('GET', '/api/keys/key_1', 404, { error: {} }));
  contract.check(answer('DELETE', '/api/keys/key_1', 204));
  contract.check(answer('GET', '/api/keys/export', 200, 'id\n', 'text/csv'));
  contract.check(answer('GET', '/elsewhere', 404, { error: {} }));
});

const faults = {
  'a missing field': [answer('GET', '/api/keys/key_1', 200, { id: 'key_1' }), /createdAt/],
  'a field of another type': [answer('GET', '/api/keys/key_1', 200, { ...good, id: 1 }), /body\/id must be string/],
  'a time that is none': [answer('GET', '/api/keys/key_1', 200, { ...good, createdAt: 'today' }), /date-time/],
  'a field too many': [answer('GET', '/api/keys/key_1', 200, { ...good, secret: 'x' }), /additional properties/],
  'a body behind a reference that does not fit': [answer('GET', '/api/keys/key_1', 404, {}), /error/],
  'a status that nobody promised': [answer('GET', '/api/keys/key_1', 500, { error: {} }), /knows only 200, 404/],
  'another content type': [answer('GET', '/api/keys/key_1', 200, 'hello', 'text/plain'), /content type 'text\/plain'/],
  'a body where there is none': [answer('DELETE', '/api/keys/key_1', 204, 'hello', 'text/plain'), /no body here/],
  'an operation that is not there': [answer('POST', '/api/keys/key_1', 200, good), /no such operation/],
};
for (const [name, [given, expected]] of Object.entries(faults)) {
  test(`${name} is told`, () => assert.throws(() => contract.check(given), expected));
}
