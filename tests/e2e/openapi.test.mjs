// The OpenAPI documents in api/: valid, every reference resolves, every schema compiles, every operation can be told apart.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
const folder = new URL('../../api/', import.meta.url);

// Everything that is wrong with a document, as sentences.
async function faults(document) {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  if (!valid) return [errors].flat().map((error) => (error.message ? `${error.instancePath || '/'} ${error.message}` : String(error)));
  const found = [];
  if (validator.version !== '3.1') found.push(`version ${validator.version}, not 3.1`);

  const names = new Set();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS.filter((name) => name in item)) {
      const { operationId, responses, parameters = [] } = item[method];
      const name = `${method.toUpperCase()} ${path}`;
      if (!operationId) found.push(`${name} has no operationId`);
      else if (names.has(operationId)) found.push(`${name} repeats the operationId ${operationId}`);
      names.add(operationId);
      if (!responses) found.push(`${name} has no responses`);
      const told = [...(item.parameters ?? []), ...parameters].map((one) => (one.$ref ? at(document, one.$ref) : one)).filter((one) => one?.in === 'path');
      for (const [, wanted] of path.matchAll(/\{([^}]+)\}/g)) {
        if (!told.some((one) => one.name === wanted)) found.push(`${name} does not describe its parameter ${wanted}`);
      }
    }
  }

  if (found.length > 0) return found;

  const ajv = addFormats(new Ajv2020({ strict: false })).addSchema({ $id: 'openapi', ...document });
  for (const name of Object.keys(document.components?.schemas ?? {})) {
    try {
      ajv.getSchema(`openapi#/components/schemas/${name}`);
    } catch (error) {
      found.push(`schema ${name}: ${error.message}`);
    }
  }
  return found;
}

function at(document, reference) {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce((node, part) => node?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

const documents = readdirSync(folder).filter((name) => name.endsWith('openapi.yaml'));
test('there are documents to check', () => assert.notEqual(documents.length, 0));
for (const name of documents) {
  test(`${name} is a sound OpenAPI 3.1 document`, async () => {
    assert.deepEqual(await faults(parse(readFileSync(new URL(name, folder), 'utf8'))), []);
  });
}

test('openapi.json, which the service serves, is made from openapi.yaml as it is', () => {
  const made = JSON.stringify(parse(readFileSync(new URL('openapi.yaml', folder), 'utf8'))) + '\n';
  assert.ok(readFileSync(new URL('openapi.json', folder), 'utf8') === made, 'run: node api/make_openapi_json.mjs');
});

const sound = {
  openapi: '3.1.0',
  info: { title: 'a small one', version: '1' },
  paths: {
    '/a/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getA', responses: { 200: { description: 'ok', content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } } } },
    },
  },
  components: { schemas: { A: { type: 'string' } } },
};
const planted = {
  'no title': [(d) => delete d.info.title, /title/],
  'another version': [(d) => (d.openapi = '3.0.3'), /version|openapi/],
  'no operationId': [(d) => delete d.paths['/a/{id}'].get.operationId, /no operationId/],
  'an operationId twice': [(d) => (d.paths['/a/{id}'].put = d.paths['/a/{id}'].get), /repeats the operationId getA/],
  'no responses': [(d) => delete d.paths['/a/{id}'].get.responses, /responses/],
  'a path parameter that nobody describes': [(d) => delete d.paths['/a/{id}'].parameters, /does not describe its parameter id/],
  'a reference to nothing': [(d) => delete d.components.schemas.A, /components\/schemas\/A/],
  'a schema that is none': [(d) => (d.components.schemas.A = { type: 'text' }), /A|type/],
};
test('a sound document has no faults', async () => assert.deepEqual(await faults(sound), []));
for (const [name, [plant, expected]] of Object.entries(planted)) {
  test(`${name} is found`, async () => {
    const document = structuredClone(sound);
    plant(document);
    assert.match((await faults(document)).join('\n'), expected);
  });
}
