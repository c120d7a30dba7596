// The OpenAPI documents in api/: valid, every reference resolves, every schema compiles, all operations are distinct.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { reference } from '../../api/make_reference.mjs';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
const folder = new URL('../../api/', import.meta.url);

// Everything that is wrong with a document, as sentences.
async function faults(document) {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  if (!valid)
    return [errors]
      .flat()
      .map((error) => (error.message ? `${error.instancePath || '/'} ${error.message}` : String(error)));
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
      const told = [...(item.parameters ?? []), ...parameters]
        .map((one) => (one.$ref ? at(document, one.$ref) : one))
        .filter((one) => one?.in === 'path');
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

// The faults of the reference: an operation or schema that is not in it, a link to nothing, anything that a browser would ask of
// others or run.
function faultsOfReference(document, html) {
  const found = [];
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  if (new Set(ids).size < ids.length) found.push('an id stands twice');
  const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item) =>
    METHODS.filter((method) => method in item).map((method) => item[method].operationId),
  );
  for (const id of [...operations, ...Object.keys(document.components.schemas).map((name) => `schema-${name}`)])
    if (!ids.includes(id)) found.push(`${id} is missing`);
  for (const [, to] of html.matchAll(/ href="([^"]+)"/g)) {
    if (
      to.startsWith('#')
        ? !ids.includes(to.slice(1))
        : !['/', '/docs/style.css', ...Object.keys(document.paths)].includes(to)
    )
      found.push(`a link to ${to}`);
  }
  if (/<(script|style|iframe|img|form|object)\b| (on\w+|style|src|action)=/.test(html))
    found.push('what the policy of the page forbids');
  if (/undefined|\[object Object\]|NaN/.test(html)) found.push('a value that is none');
  found.push(...faultsOfMembers(document, html));
  return found;
}

// The names of the members that a schema describes itself, however deep, and not by a reference; what `not` and `if` say restates them.
function membersOf(schema) {
  if (schema === null || typeof schema !== 'object') return [];
  const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = schema;
  return [
    ...Object.keys(properties),
    ...[...Object.values(properties), items, ...allOf, ...anyOf, ...oneOf].flatMap(membersOf),
  ];
}
// Members that a section of the page does not have as often as the contract has them there.
function faultsOfMembers(document, html) {
  const found = [];
  const sections = new Map(
    [...html.matchAll(/<section class="\w+" id="([^"]+)">(.*?)<\/section>/gs)].map(([, id, text]) => [id, text]),
  );
  const compare = (id, schemas) => {
    const shown = [
      ...(sections.get(id) ?? '').matchAll(/<th scope="row"><code>([^<]+)<\/code>(?! <span class="where">)/g),
    ].map(([, name]) => name);
    for (const name of schemas.flatMap(membersOf)) {
      const at = shown.indexOf(name);
      if (at < 0) found.push(`${id} lacks ${name}`);
      else shown.splice(at, 1);
    }
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) compare(`schema-${name}`, [schema]);
  for (const item of [...Object.values(document.paths), ...Object.values(document.webhooks)]) {
    for (const { operationId, requestBody, responses } of METHODS.filter((method) => method in item).map(
      (method) => item[method],
    )) {
      const bodies = [requestBody, ...Object.values(responses)]
        .filter(Boolean)
        .map((one) => (one.$ref ? at(document, one.$ref) : one));
      compare(
        operationId,
        bodies.flatMap(({ content = {} }) => Object.values(content).map(({ schema }) => schema)),
      );
    }
  }
  return found;
}
test('the reference has all of openapi.yaml, and nothing of others', () => {
  const document = parse(readFileSync(new URL('openapi.yaml', folder), 'utf8'));
  assert.ok(
    readFileSync(new URL('reference.html', folder), 'utf8') === reference(document),
    'run: node api/make_openapi_json.mjs',
  );
  assert.deepEqual(faultsOfReference(document, reference(document)), []);
  const altered = reference(document)
    .replace('id="listKeys"', '')
    .replace('<main', '<img src="https://x.example/"><main');
  assert.deepEqual(faultsOfReference(document, altered), [
    'listKeys is missing',
    'a link to #listKeys',
    'what the policy of the page forbids',
  ]);
  const less = reference(document).replace('<th scope="row"><code>mappingIds</code>', '<th scope="row"><code>x</code>');
  assert.deepEqual(faultsOfReference(document, less).length, 1, 'a member that is missing is told');
  document.info.description = '<script>alert(1)</script>';
  assert.deepEqual(faultsOfReference(document, reference(document)), []);
});

test('the reference says who may call each operation', () => {
  const document = parse(readFileSync(new URL('openapi.yaml', folder), 'utf8'));
  const html = reference(document);
  const who = (id) =>
    html.match(new RegExp(`id="${id}">.*?</section>`, 's'))[0].match(/<p class="who">(.*?)<\/p>/)?.[1];
  assert.equal(who('cloudLogin'), 'For a key with <code>login</code>.');
  assert.equal(who('listKeys'), 'For a signed-in person.');
  assert.equal(who('listDeliveries'), 'For a signed-in person, or a key with <code>deliveries:read</code>.');
  assert.equal(who('getAccount'), 'For a signed-in person, or a key.');
  assert.equal(who('version'), undefined);
  assert.equal(who('receiveOrder'), undefined);
});
test('the reference tells limits in words', () => {
  const document = {
    info: { title: 'x' },
    tags: [],
    paths: {},
    components: {
      schemas: {
        A: {
          properties: {
            a: { type: 'string', minLength: 1 },
            b: { type: 'array', minItems: 5, maxItems: 5 },
            c: { type: 'string', maxLength: 2 },
            d: { type: 'integer', minimum: 1, maximum: 9 },
            e: { type: 'integer', minimum: 0 },
          },
        },
      },
    },
  };
  assert.deepEqual(
    [...reference(document).matchAll(/class="limit">(.*?)</g)].map(([, text]) => text),
    ['at least 1 character', '5 elements', 'at most 2 characters', '1 to 9', 'at least 0'],
  );
});

// The service checks each operation's query, and its body even where it takes none. So each documents 422, and all but GET 413 and 415.
// Returns the ones that are missing.
function faultsOfJudging(document) {
  return Object.values(document.paths).flatMap((item) =>
    METHODS.filter(
      (method) => method in item && !item[method]['x-any-query'] && item[method].operationId !== 'deleteKey',
    ).flatMap((method) =>
      ['422', ...(method === 'get' ? [] : ['413', '415'])]
        .filter((status) => !(status in item[method].responses))
        .map((status) => `${item[method].operationId} lacks ${status}`),
    ),
  );
}
test('each operation that is judged says so', () => {
  const document = parse(readFileSync(new URL('openapi.yaml', folder), 'utf8'));
  assert.deepEqual(faultsOfJudging(document), []);
  delete document.paths['/api/buyer'].get.responses['422'];
  delete document.paths['/api/credentials'].delete.responses['415'];
  assert.deepEqual(faultsOfJudging(document), ['deleteCredentials lacks 415', 'getBuyerDelivery lacks 422']);
});
test('each event that is sent has a body of its own type', () => {
  const document = parse(readFileSync(new URL('openapi.yaml', folder), 'utf8'));
  const ajv = addFormats(new Ajv2020({ strict: false })).addSchema({ $id: 'openapi', ...document });
  const bodies = Object.entries(document.webhooks).map(([type, { post }]) => [
    type,
    post.requestBody.content['application/json'].schema.$ref,
  ]);
  for (const [type, reference] of bodies) {
    for (const [other, of] of bodies) {
      const [example] = at(document, of).examples;
      assert.equal(example.type, other);
      assert.equal(ajv.getSchema(`openapi${reference}`)(example), type === other, `${other} as ${type}`);
    }
  }
});

// Every body of a request and every answer in JSON has an example, of its own or of its schema, a list may have one of an item; and every
// example is one.
function faultsOfExamples(document) {
  const ajv = addFormats(new Ajv2020({ strict: false })).addSchema({ $id: 'openapi', ...document });
  const found = [];
  const pointer = (parts) =>
    parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const walk = (node, parts) => {
    if (node === null || typeof node !== 'object') return;
    if (node.schema && 'example' in node) {
      if (!ajv.getSchema(`openapi#${encodeURI(pointer([...parts, 'schema']))}`)(node.example))
        found.push(`${pointer(parts)}: the example does not fit`);
    }
    if (Array.isArray(node.examples)) {
      const validate = ajv.getSchema(`openapi#${encodeURI(pointer(parts))}`);
      node.examples.forEach(
        (one, at) =>
          validate(one) ||
          found.push(`${pointer(parts)}/examples/${at} does not fit: ${ajv.errorsText(validate.errors)}`),
      );
    }
    for (const [name, one] of Object.entries(node))
      if (name !== 'example' && name !== 'examples') walk(one, [...parts, name]);
  };
  walk(document, []);
  const shows = (given) => {
    const schema = given.$ref ? at(document, given.$ref) : given;
    return schema.examples?.length > 0 || (schema.properties?.data?.items && shows(schema.properties.data.items));
  };
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS.filter((name) => item[name]?.requestBody)) {
      const body = item[method].requestBody.$ref
        ? at(document, item[method].requestBody.$ref)
        : item[method].requestBody;
      const { schema, example } = Object.values(body.content)[0] ?? {};
      const described = schema?.$ref ? at(document, schema.$ref) : schema;
      if (example === undefined && !(described?.examples?.length > 0) && !described?.anyOf)
        found.push(`${method.toUpperCase()} ${path} shows no body`);
    }
    for (const method of METHODS.filter((name) => item[name])) {
      for (const [status, given] of Object.entries(item[method].responses)) {
        const { schema, example } = (given.$ref ? at(document, given.$ref) : given).content?.['application/json'] ?? {};
        if (schema && example === undefined && !shows(schema))
          found.push(`${method.toUpperCase()} ${path} shows no answer ${status}`);
      }
    }
  }
  return found;
}
test('openapi.yaml shows each body and each answer, as its schema takes it', () => {
  const document = parse(readFileSync(new URL('openapi.yaml', folder), 'utf8'));
  assert.deepEqual(faultsOfExamples(document), []);
  document.components.schemas.InvalidateDelivery.examples = [{ reason: '' }];
  delete document.components.schemas.NewIntegration.examples;
  delete document.components.schemas.BulkJob.examples;
  assert.deepEqual(
    faultsOfExamples(document).map((one) => one.split(':')[0]),
    [
      '/components/schemas/InvalidateDelivery/examples/0 does not fit',
      'POST /api/integrations shows no body',
      'POST /api/orders/reprocess shows no answer 202',
      'GET /api/bulk/{job} shows no answer 200',
      'POST /api/customers/erase shows no answer 202',
      'POST /api/deliveries/bulk shows no answer 202',
    ],
  );
});

const sound = {
  openapi: '3.1.0',
  info: { title: 'a small one', version: '1' },
  paths: {
    '/a/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getA',
        responses: {
          200: { description: 'ok', content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } },
        },
      },
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
  'a path parameter that nobody describes': [
    (d) => delete d.paths['/a/{id}'].parameters,
    /does not describe its parameter id/,
  ],
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
