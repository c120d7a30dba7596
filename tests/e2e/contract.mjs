// Checks answers against an OpenAPI 3.1 document: the status is one that the operation names, and the body fits its schema.
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

const ROOT = 'openapi';
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const pointer = (...parts) =>
  parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

// The whole server-sent events of a text, comments left out.
export function eventsOf(text) {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks
    .map((block) =>
      Object.fromEntries(
        block
          .split('\n')
          .filter((line) => !line.startsWith(':'))
          .map((line) => line.split(/: (.*)/s).slice(0, 2)),
      ),
    )
    .filter((event) => 'event' in event)
    .map((event) => ({ ...event, data: JSON.parse(event.data) }));
}

export class Contract {
  static fromFile(file) {
    return new Contract(parse(readFileSync(file, 'utf8')));
  }

  constructor(document) {
    this.document = document;
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats(this.ajv);
    this.ajv.addSchema({ $id: ROOT, ...document });
    // A fixed segment beats a parameter, as it does in the router.
    this.routes = Object.keys(document.paths)
      .map((template) => ({
        template,
        parameters: template.split('{').length - 1,
        pattern: new RegExp(
          `^${template
            .split(/\{[^}]+\}/)
            .map(escaped)
            .join('[^/]+')}$`,
        ),
      }))
      .sort((left, right) => left.parameters - right.parameters);
  }

  // `answer` as Client.request gives it. Throws with all that is wrong; made to be a Client's `check`.
  check = (answer) => {
    const path = answer.path.split('?')[0];
    const name = `${answer.method} ${path} -> ${answer.status}`;
    const route = this.routes.find(
      ({ pattern, template }) => pattern.test(path) && answer.method.toLowerCase() in this.document.paths[template],
    );
    if (!route) {
      // No document can list an unknown path, or a method that a path does not have. Their body is the common error.
      if (answer.status === 404 || answer.status === 405) return;
      throw new Error(`${name}: the contract has no such operation`);
    }
    const operation = answer.method.toLowerCase();
    const responses = this.document.paths[route.template][operation].responses;
    const status = [String(answer.status), `${Math.floor(answer.status / 100)}XX`, 'default'].find(
      (key) => key in responses,
    );
    if (!status)
      throw new Error(`${name}: the contract of ${route.template} knows only ${Object.keys(responses).join(', ')}`);

    let at = pointer('paths', route.template, operation, 'responses', status);
    let response = responses[status];
    if (response.$ref) {
      at = response.$ref.slice(1);
      response = at
        .slice(1)
        .split('/')
        .reduce((node, part) => node[part.replaceAll('~1', '/').replaceAll('~0', '~')], this.document);
    }
    const types = Object.keys(response.content ?? {});
    if (types.length === 0) {
      if (answer.text !== '')
        throw new Error(`${name}: the contract has no body here, and this came: ${answer.text.slice(0, 200)}`);
      return;
    }
    const type = (answer.headers['content-type'] ?? '').split(';')[0].trim();
    if (!types.includes(type)) throw new Error(`${name}: content type '${type}', the contract has ${types.join(', ')}`);
    const events = type === 'text/event-stream' ? eventsOf(answer.text) : undefined;
    if ((answer.json === undefined && !events) || !response.content[type].schema) return;
    const validate = this.ajv.getSchema(`${ROOT}#${encodeURI(at + pointer('content', type, 'schema'))}`);
    for (const body of events ?? [answer.json]) {
      if (validate(body)) continue;
      throw new Error(
        `${name}: ${this.ajv.errorsText(validate.errors, { dataVar: 'body', separator: '\n  ' })}\n  in ${answer.text.slice(0, 500)}`,
      );
    }
  };
}
