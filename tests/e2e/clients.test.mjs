// Clients that others generate from the contract: they compile, they know the types of what every list holds, and they read it from the
// running service. Their programs are written here from the contract's own lists.
import assert from 'node:assert/strict';
import { access, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Scope, scratch, until } from './harness.mjs';
import { Merchant, contract, isOk, operations, startStack } from './merchant.mjs';
import { runTool } from './run_tool.mjs';
import { resolve } from './schema_values.mjs';

const scope = new Scope({ after });
const here = fileURLToPath(new URL('.', import.meta.url));
const document = path.join(here, '../../api/openapi.yaml');
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

// Lists of every resource, with a member that each of its items has.
const lists = operations
  .filter(({ method }) => method === 'GET')
  .flatMap((operation) => {
    const schema = resolve(contract.document, operation.responses['200'] ?? {})?.content?.['application/json']?.schema;
    const { properties = {} } = schema ? resolve(contract.document, schema) : {};
    if (!properties.data || !properties.nextCursor) return [];
    const item = resolve(contract.document, properties.data.items);
    const of = (types) => (name) => {
      const { type, format } = resolve(contract.document, item.properties?.[name] ?? {});
      return String(type) === types && !format;
    };
    const names = ['id', ...(item.required ?? [])];
    const member = names.find(of('string')) ?? names.find(of('string,null'));
    // A list that is not paged has few items.
    const paged = operation.parameters?.some((one) => resolve(contract.document, one).name === 'limit');
    return [
      { ...operation, member, paged, names: [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name) },
    ];
  });

let merchant, ids, folder, expected;
before(async () => {
  const stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  const { deliveryId } = await merchant.order(store, { orderId: 'A-1', username: 'buyer' });
  const subscription = isOk(
    await merchant.api.post('/api/webhook-subscriptions', {
      url: 'https://shop.example/hook',
      eventTypes: ['delivery.reopened'],
    }),
    201,
  );
  await merchant.reaches(deliveryId, 'completed');
  await merchant.dataRequest(await merchant.store('provider_a'));
  const [privacyRequest] = isOk(await merchant.api.get('/api/privacy-requests')).data;
  await until(
    'the product is listed',
    async () => isOk(await merchant.api.get(`/api/integrations/${store.id}/products`)).data.length > 0,
  ); // and nothing more comes into any list
  ids = {
    integration: store.id,
    delivery: deliveryId,
    subscription: subscription.id,
    key: (await merchant.key()).id,
    privacyRequest: privacyRequest.id,
  };
  folder = await scratch(scope);
  expected = {};
  for (const { operationId, path: template, names, member } of lists) {
    const { data } = isOk(
      await merchant.api.get(names.reduce((text, name) => text.replace(`{${name}}`, ids[name]), template)),
    );
    expected[operationId] = data[0]?.[member] ?? null;
  }
});

function run(program, words, { cwd = folder, env = {} } = {}) {
  const options = {
    cwd,
    env: {
      PATH: `${path.join(process.env.PYTHON_TOOLS ?? '', 'bin')}:${process.env.PATH}`,
      HOME: folder,
      NO_COLOR: '1',
      ...env,
    },
    timeout: 90_000,
  };
  return runTool(program, words, options);
}
const tool = async (file, words, options) => {
  const { code, text } = await run(process.execPath, [path.join(here, 'node_modules', file), ...words], options);
  assert.equal(code, 0, text);
};
const surroundings = () => ({ BRIDGE_URL: merchant.bridge.url, ID_TOKEN: merchant.tokens.idToken });
// Whose item is neither `any` nor `unknown`.
const told = (list, { operationId, member }) => `
    const item${operationId} = ${list}?.data[0];
    known<typeof item${operationId}>(true);
    const text${operationId}: string | null | undefined = item${operationId}?.${member};
    found.${operationId} = text${operationId} ?? null;`;
const program = (imports, lines) => `${imports}
type Known<T> = 0 extends 1 & T ? false : unknown extends T ? false : true;
function known<T>(_: Known<T>) {}
declare const process: { env: Record<string, string>; stdout: { write(text: string): void } };
async function main() {
  const found: Record<string, string | null> = {};
  ${lines.join('\n')}
  process.stdout.write(JSON.stringify(found));
}
void main();
`;

async function compileAndRun(name, text) {
  const at = path.join(folder, name);
  await symlink(path.join(here, 'node_modules'), path.join(at, 'node_modules'));
  await writeFile(path.join(at, 'package.json'), '{"type":"commonjs"}');
  await writeFile(path.join(at, 'program.ts'), text);
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'node16',
    moduleResolution: 'node16',
    types: [],
    outDir: 'built',
  };
  await writeFile(path.join(at, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  const compile = () => run(process.execPath, [path.join(here, 'node_modules/typescript/bin/tsc')], { cwd: at });
  const { code, text: said } = await compile();
  assert.equal(code, 0, said);
  const ran = await run(process.execPath, ['built/program.js'], { cwd: at, env: surroundings() });
  assert.equal(ran.code, 0, ran.text);
  assert.deepEqual(JSON.parse(ran.stdout), expected);
  // A member that no item has does not compile.
  await writeFile(path.join(at, 'program.ts'), text.replace('itemlistKeys?.id', 'itemlistKeys?.idd'));
  assert.match((await compile()).text, /'idd' does not exist/);
}

test('there is something in the lists', () => {
  assert.ok(lists.length >= 8, String(lists.length));
  for (const { operationId, member } of lists) assert.ok(member, operationId);
  for (const name of [
    'listKeys',
    'listIntegrations',
    'listDeliveries',
    'listSubscriptions',
    'listLedger',
    'listPresets',
  ])
    assert.ok(expected[name], name);
});

test('openapi-typescript and openapi-fetch', async () => {
  await mkdir(path.join(folder, 'fetch'));
  await tool('openapi-typescript/bin/cli.js', [document, '-o', path.join(folder, 'fetch/schema.ts')]);
  const asked = lists.map(
    (list) => `{
    const { data: answer } = await client.GET('${list.path}', { params: { ${list.paged ? 'query: { limit: 1 }' : ''}${list.names.length ? `, path: ${JSON.stringify(Object.fromEntries(list.names.map((name) => [name, ids[name]])))}` : ''} } });
    const list = typeof answer === 'string' ? undefined : answer; // what can be a table too
    ${told('list', list)}
  }`,
  );
  await compileAndRun(
    'fetch',
    program("import createClient from 'openapi-fetch';\nimport type { paths } from './schema';", [
      'const client = createClient<paths>({ baseUrl: process.env.BRIDGE_URL, headers: { authorization: `Bearer ${process.env.ID_TOKEN}` } });',
      ...asked,
    ]),
  );
});

test('@hey-api/openapi-ts', async () => {
  await mkdir(path.join(folder, 'hey'));
  await tool('@hey-api/openapi-ts/bin/run.js', ['-i', document, '-o', path.join(folder, 'hey/api'), '--no-log-file']);
  const asked = lists.map(
    (list) => `{
    const { data: list } = await api.${list.operationId}({ ${list.paged ? 'query: { limit: 1 }' : ''}${list.names.length ? `, path: ${JSON.stringify(Object.fromEntries(list.names.map((name) => [name, ids[name]])))}` : ''} });
    ${told('list', list)}
  }`,
  );
  await compileAndRun(
    'hey',
    program("import * as api from './api';\nimport { client } from './api/client.gen';", [
      'client.setConfig({ baseUrl: process.env.BRIDGE_URL, auth: ({ scheme }) => (scheme === "bearer" ? process.env.ID_TOKEN : undefined) });',
      ...asked,
    ]),
  );
});

test('openapi-python-client', async () => {
  const python = path.join(process.env.PYTHON_TOOLS ?? '', 'bin/python');
  await access(python).catch(() => assert.fail(`there is no ${python}: ./dev test makes it`));
  // A table as a body is bytes to it.
  await writeFile(path.join(folder, 'tool.yaml'), 'content_type_overrides: { text/csv: application/octet-stream }\n');
  const made = await run(python, [
    '-m',
    'openapi_python_client',
    'generate',
    '--path',
    document,
    '--config',
    'tool.yaml',
    '--meta',
    'none',
    '--output-path',
    'bridge',
    '--fail-on-warning',
  ]);
  assert.equal(made.code, 0, made.text);
  // A folder of a tag has an underscore more where Python has the word already.
  const modules = new Map();
  for (const file of await readdir(path.join(folder, 'bridge/api'), { recursive: true }))
    modules.set(path.basename(file, '.py'), path.dirname(file));
  const asked = lists.map(
    ({ operationId, names, member, paged }) => `
from bridge.api.${modules.get(snake(operationId))} import ${snake(operationId)}
page = ${snake(operationId)}.sync(${names.map((name) => `${JSON.stringify(ids[name])}, `).join('')}client=client${paged ? ', limit=1' : ''})
found["${operationId}"] = page.data[0].${snake(member)} if page.data else None
`,
  );
  await writeFile(
    path.join(folder, 'program.py'),
    `
import json, os
from bridge import AuthenticatedClient
client = AuthenticatedClient(base_url=os.environ["BRIDGE_URL"], token=os.environ["ID_TOKEN"], raise_on_unexpected_status=True)
found = {}
${asked.join('')}
print(json.dumps(found))
`,
  );
  const ran = await run(python, ['program.py'], { env: surroundings() });
  assert.equal(ran.code, 0, ran.text);
  assert.deepEqual(JSON.parse(ran.stdout), expected);
});
