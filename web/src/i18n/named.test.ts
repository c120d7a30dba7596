// Every text of the catalogue is named by a source: whole, or by a template (`fix.${code}.text`, word('fix', code)). The part that a template
// leaves open is a value of the page, of the contract or of the service.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { words } from './words';

const TEXTS = 'src/i18n/en';
await Promise.all(readdirSync(TEXTS).map((file) => import(`./en/${file.replace('.ts', '')}.ts`)));
await import('./text'); // the parts of the first page

const read = (folder: string, like: RegExp, not: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => like.test(name) && !not.test(name))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8').replace(/^\s*\/\/.*$/gm, ''));
const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((groups) => groups.slice(1).find((one) => one !== undefined) ?? '');
const quoted = (text: string) => found(text, /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/g);

const sources = read('src', /\.tsx?$/, /^i18n\/en\/|\.test\.|\.d\./);
const named = new Set(sources.flatMap(quoted));
const contract = JSON.parse(readFileSync('../api/openapi.json', 'utf8'));
const jobs: string[] = contract.components.schemas.BulkJob.properties.action.enum;
const service = [JSON.stringify(contract), ...read('../src', /\.(cpp|h)$/, /_test\.cpp$|testing/)];
const values = new Set([
  ...named,
  ...sources.flatMap((source) => found(source, /(?:^|[{,(\s])(\w+):/g)), // keys of objects
  ...sources.flatMap((source) => found(source, /\b(\d[\d_]*)\b/g)).map((number) => number.replaceAll('_', '')),
  ...service.flatMap(quoted),
  ...jobs.map((name) => `${name}.asked`), // in the audit log
]);

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const CHOICE = /^\w+ \? '([^']*)' : '([^']*)'$/;

// The keys that a template can be; `known`: the keys that its file names, for a template that begins with a key.
function keysOf(template: string, known: string[]): string[] {
  const parts = template.split(/\$\{([^}]*)\}/);
  const any = parts.length > 3 ? '([^.]+)' : '(.+)';
  const pattern = parts.map((part, at) => {
    if (at % 2 === 0) return escaped(part);
    const choice = CHOICE.exec(part);
    if (choice) return `(?:${choice.slice(1).map(escaped).join('|')})`;
    return at === 1 && parts[0] === '' ? `(?:${known.map(escaped).join('|')})` : any;
  });
  const whole = new RegExp(`^${pattern.join('')}$`);
  return Object.keys(words).filter((key) =>
    whole
      .exec(key)
      ?.slice(1)
      .every((value) => values.has(value)),
  );
}
for (const source of sources) {
  const known = quoted(source).filter((text) => Object.hasOwn(words, text));
  const templates = found(source, /`((?:[\w.]*\$\{[^}`]*\})+[\w.]*)`/g).filter(
    (one) => !one.startsWith('$') || known.length > 0,
  );
  const groups = found(source, /\bword\(\s*'([\w.]+)'/g).map((group) => `${group}.\${value}`);
  for (const template of [...templates, ...groups]) for (const key of keysOf(template, known)) named.add(key);
}

test('every text of the catalogue is named by a source', () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(Object.keys(words).length).toBeGreaterThan(1000);
  expect(Object.keys(words).filter((key) => !named.has(key))).toEqual([]);
});
