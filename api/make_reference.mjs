// The readable reference, GET /docs, from the contract: plain HTML, which needs nothing but its style sheet. api/make_openapi_json.mjs
// writes it.
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

const escaped = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
// `code`, **bold** and nothing else.
const inline = (text) =>
  String(text)
    .split(/(`[^`]*`)/)
    .map((part) =>
      /^`[^`]*`$/.test(part)
        ? `<code>${escaped(part.slice(1, -1))}</code>`
        : escaped(part).replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>'),
    )
    .join('');
const paragraphs = (text) =>
  (text ?? '')
    .trim()
    .split(/\n\s*\n/)
    .filter(Boolean)
    .map((one) => `<p>${inline(one.replace(/\s*\n\s*/g, ' '))}</p>`)
    .join('\n');
const nameOf = (reference) => reference.split('/').at(-1);

export function reference(document) {
  const resolve = (node) => {
    let found = node;
    while (found?.$ref)
      found = found.$ref
        .slice(2)
        .split('/')
        .reduce((at, part) => at[part.replaceAll('~1', '/').replaceAll('~0', '~')], document);
    return found;
  };

  // A value's type, in a few words.
  function kind(schema) {
    if (schema.$ref) return `<a href="#schema-${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`;
    if ('const' in schema) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
    if (schema.enum) return schema.enum.map((one) => `<code>${escaped(one)}</code>`).join(' | ');
    const options = schema.anyOf ?? schema.oneOf;
    if (options) return options.map(kind).join(' or ');
    const types = [schema.type ?? (schema.properties ? 'object' : 'any')].flat();
    return (
      types
        .map((type) => (type === 'array' ? `array of ${schema.items ? kind(schema.items) : 'anything'}` : type))
        .join(' or ') + (schema.format ? ` (${escaped(schema.format)})` : '')
    );
  }
  function limits(schema) {
    const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema;
    const range = (least, most, unit) => {
      const of = (number) => (unit === '' ? number : `${number} ${unit}${number === 1 ? '' : 's'}`);
      if (least === undefined) return most === undefined ? [] : [`at most ${of(most)}`];
      return [most === undefined ? `at least ${of(least)}` : least === most ? of(least) : `${least} to ${of(most)}`];
    };
    const found = [
      ...range(minLength, maxLength, 'character'),
      ...range(minimum, maximum, ''),
      ...range(minItems, maxItems, 'element'),
    ];
    if (pattern) found.push(`form <code>${escaped(pattern)}</code>`);
    if (schema.default !== undefined) found.push(`default <code>${escaped(JSON.stringify(schema.default))}</code>`);
    if (schema.readOnly) found.push('read only');
    return found.map((one) => `<span class="limit">${one}</span>`).join(' ');
  }
  // The members that a schema describes itself, and those in them.
  function rows(schema) {
    if (schema.$ref) return '';
    const all = (schema.allOf ?? []).map((one) => (one.$ref ? `<p>All of ${kind(one)}, and:</p>` : rows(one)));
    const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])].map(
      rows,
    );
    return [...all, ...options].join('') + (schema.properties ? members(schema) : '');
  }
  function members(schema) {
    const required = new Set(schema.required ?? []);
    const lines = Object.entries(schema.properties ?? {}).map(([name, one]) => {
      return `<tr><th scope="row"><code>${escaped(name)}</code>${required.has(name) ? ' <span class="required">required</span>' : ''}</th><td>${kind(one)} ${limits(one)}${one.description ? `<br>${inline(one.description)}` : ''}${rows(one)}</td></tr>`;
    });
    return `<div class="wide"><table><tbody>${lines.join('\n')}</tbody></table></div>`;
  }
  const example = (value) =>
    value === undefined ? '' : `<pre tabindex="0">${escaped(JSON.stringify(value, null, 2))}</pre>`;
  function shape(schema, own) {
    const shown = own ?? resolve(schema)?.examples?.[0];
    const inner = schema.$ref ? `<p>${kind(schema)}</p>` : rows(schema) || `<p>${kind(schema)}</p>`;
    return inner + example(shown);
  }

  function parameters(list) {
    if (list.length === 0) return '';
    const lines = list
      .map(resolve)
      .map(
        (one) =>
          `<tr><th scope="row"><code>${escaped(one.name)}</code> <span class="where">${one.in}</span>${one.required ? ' <span class="required">required</span>' : ''}</th><td>${kind(one.schema)} ${limits(one.schema)}${one.description ? `<br>${inline(one.description)}` : ''}</td></tr>`,
      );
    return `<h4>Parameters</h4><div class="wide"><table><tbody>${lines.join('\n')}</tbody></table></div>`;
  }
  function body(given) {
    if (!given) return '';
    const one = resolve(given);
    return `<h4>Body${one.required ? '' : ' (optional)'}</h4>${paragraphs(one.description)}${Object.entries(one.content)
      .map(([type, { schema, example: shown }]) => `<p class="type">${escaped(type)}</p>${shape(schema, shown)}`)
      .join('\n')}`;
  }
  function answers(responses) {
    const lines = Object.entries(responses).map(([status, given]) => {
      const one = resolve(given);
      const content = Object.entries(one.content ?? {}).map(([type, { schema }]) => {
        return schema?.$ref ? kind(schema) : (schema && rows(schema)) || escaped(type);
      });
      return `<tr><th scope="row"><code>${status}</code></th><td>${inline(one.description)} ${content.join(' ')}</td></tr>`;
    });
    return `<h4>Answers</h4><div class="wide"><table><tbody>${lines.join('\n')}</tbody></table></div>`;
  }
  function access({ security = document.security, 'x-permission': permission }) {
    const ways = (security ?? []).map((one) => Object.keys(one).join());
    if (ways.length === 0 || ways.includes('')) return '';
    const person = permission === 'owner' ? 'an owner of the account' : 'a signed-in person';
    const key =
      permission && !['account', 'owner'].includes(permission)
        ? `a key with <code>${escaped(permission)}</code>`
        : 'a key';
    const who = [...(ways.includes('idToken') ? [person] : []), ...(ways.includes('apiKey') ? [key] : [])];
    return `<p class="who">For ${who.join(', or ')}.</p>`;
  }
  function operation(method, path, item) {
    const one = item[method];
    return `<section class="operation" id="${one.operationId}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${escaped(path)}</code></h3>
<p class="summary">${inline(one.summary)}${one.deprecated ? ' <span class="required">deprecated</span>' : ''}</p>
${paragraphs(one.description)}
${access(one)}
${parameters([...(item.parameters ?? []), ...(one.parameters ?? [])])}
${body(one.requestBody)}
${answers(one.responses)}
</section>`;
  }

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({ method, path, item, ...item[method] })),
  );
  const hooks = Object.entries(document.webhooks ?? {}).map(([name, item]) => ({
    method: 'post',
    path: name,
    item,
    ...item.post,
  }));
  const schemas = Object.entries(document.components.schemas);
  const entry = (id, text) => `<li><a href="#${id}">${text}</a></li>`;
  const nav = document.tags
    .map(
      ({ name, description }) =>
        `<h2>${escaped(description)}</h2><ul>${operations
          .filter((one) => one.tags[0] === name)
          .map((one) => entry(one.operationId, escaped(one.summary)))
          .join('\n')}</ul>`,
    )
    .join('\n');

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(document.info.title)}: API reference</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><p><a href="/">${escaped(document.info.title)}</a></p><p><a href="/api/openapi.json">OpenAPI document</a></p></header>
<!-- notice -->
<div class="columns">
<nav aria-label="Operations">
${nav}
<h2>Events that are sent</h2><ul>${hooks.map((one) => entry(one.operationId, escaped(one.path))).join('\n')}</ul>
<h2><a href="#schemas">Schemas</a></h2>
</nav>
<main id="content">
<h1>API reference</h1>
${paragraphs(document.info.description)}
${document.tags
  .map(
    ({ name, description }) =>
      `<h2 id="tag-${name}">${escaped(description)}</h2>\n${operations
        .filter((one) => one.tags[0] === name)
        .map((one) => operation(one.method, one.path, one.item))
        .join('\n')}`,
  )
  .join('\n')}
<h2 id="events">Events that are sent</h2>
${hooks.map((one) => operation(one.method, one.path, one.item)).join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => `<section class="schema" id="schema-${name}"><h3>${name}</h3>${paragraphs(schema.description)}${rows(schema) || `<p>${kind(schema)} ${limits(schema)}</p>`}${example(schema.properties || schema.allOf ? schema.examples?.[0] : undefined)}</section>`).join('\n')}
</main>
</div>
</body>
</html>
`;
}
