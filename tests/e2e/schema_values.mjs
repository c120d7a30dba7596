// Values for a JSON Schema of the contract: such as it takes, and such that are a little off. Which of the latter it refuses is for a
// validator to say.
import fc from 'fast-check';

const LONGEST_ARRAY = 4;
const own = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

export function resolve(document, schema) {
  let found = schema;
  while (found?.$ref)
    found = found.$ref
      .slice(2)
      .split('/')
      .reduce((node, part) => node[part.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  return found;
}

const typesOf = (schema) =>
  [schema.type ?? (schema.properties ? 'object' : schema.enum || own(schema, 'const') ? [] : 'string')].flat();

// URLs of a receiver, part by part: each part is usually good, and good by itself.
const part = (usual, odd) =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const urls = fc
  .tuple(
    part(['https://'], ['HTTPS://', 'http://', 'https:/', 'ftp://', '']),
    part([''], ['u@', 'u:p@', '@']),
    part(
      ['shop.example'],
      [
        'shop_1.example',
        'SHOP.example',
        'xn--kfe.example',
        'sh%6fp.example',
        '[2606:4700:4700::1111]',
        '93.184.216.34',
        '10.0.0.1',
        'shop.local',
        'shop..example',
        'schön.example',
        '',
        '[::1',
      ],
    ),
    part(['', ':443'], [':0', ':65535', ':65536', ':99999', ':', ':x', ':00443', ':-1']),
    part(
      ['/hook', ''],
      ['/a|b', '/%zz', '?a=1', '#x', '/a b', '\\x', '/ü', '//x', `/${'x'.repeat(1900)}`, `/${'x'.repeat(1990)}`],
    ),
  )
  .map((parts) => parts.join(''));

function textOf(schema) {
  const { minLength = 0, maxLength = 60, pattern, format } = schema;
  const fits = (text) => [...text].length >= minLength && [...text].length <= maxLength;
  if (format === 'date-time') {
    const range = { min: new Date('2030-01-01T00:00:00Z'), max: new Date('2090-01-01T00:00:00Z'), noInvalidDate: true };
    return fc
      .tuple(fc.date(range), fc.constantFrom('Z', '+00:00', '-11:30', '+05:45'))
      .map(([date, zone]) => date.toISOString().replace('Z', zone));
  }
  if (pattern?.startsWith('^[Hh][Tt][Tt][Pp]')) return urls;
  const regexp = new RegExp(pattern ?? '', 'u');
  const right = (text) => regexp.test(text) && fits(text);
  const drawn = () =>
    fc
      .stringMatching(new RegExp(pattern.startsWith('^') ? pattern : `^.*${pattern}.*$`, 'u'), { size: '-1' })
      .filter(right);
  // Nothing but its own drawing meets a pattern that asks for more than what not to hold.
  if (pattern && !right('x'.repeat(Math.max(1, minLength)))) return drawn();
  const size = fc.integer({ min: Math.max(minLength, 1), max: Math.min(maxLength, minLength + 40) });
  const plain = size
    .chain((length) => fc.string({ unit: 'grapheme-ascii', minLength: length, maxLength: length }))
    .filter(right);
  const longest = ['x'.repeat(maxLength), '漢'.repeat(maxLength), 'a '.repeat(maxLength / 2)].filter(right);
  const more = pattern && minLength <= 1 ? [drawn()] : [];
  return fc.oneof(
    plain,
    size.map((length) => 'Ab3'.repeat(length).slice(0, length)),
    ...longest.map((text) => fc.constant(text)),
    ...more,
  );
}

// Values that the schema is meant to take; `if` and `not` are for whoever checks them.
export function values(document, given) {
  const schema = resolve(document, given);
  if (own(schema, 'const')) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fc.oneof(...options.map((one) => values(document, one)));
  return fc.oneof(
    ...typesOf(schema).map((type) => {
      switch (type) {
        case 'null':
          return fc.constant(null);
        case 'boolean':
          return fc.boolean();
        case 'integer':
          return fc.integer({
            min: Math.max(schema.minimum ?? -1000, -(2 ** 31)),
            max: Math.min(schema.maximum ?? 2 ** 31 - 1, 2 ** 31 - 1),
          });
        case 'array':
          return fc.array(values(document, schema.items ?? {}), {
            minLength: schema.minItems ?? 0,
            maxLength: Math.min(schema.maxItems ?? LONGEST_ARRAY, LONGEST_ARRAY),
          });
        case 'object': {
          const members = Object.entries(schema.properties ?? {}).filter(([, one]) => !resolve(document, one).readOnly);
          return fc.record(Object.fromEntries(members.map(([name, one]) => [name, values(document, one)])), {
            requiredKeys: schema.required ?? [],
            noNullPrototype: true,
          });
        }
        default:
          return textOf(schema);
      }
    }),
  );
}

const ODD = [
  null,
  '',
  ' ',
  '\u0000',
  'a\u0001b',
  'line\nbreak',
  '\u007f',
  'x'.repeat(5000),
  '漢'.repeat(201),
  'null',
  '0',
  -1,
  0,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [''],
  { a: 1 },
  'int_',
  'int_0a1b2c3d4e5f',
  'int_0A1B2C3D4E5F6',
  'key_0a1b2c3d4e5f6',
  ' int_0a1b2c3d4e5f6',
  'whsec_short',
  `whsec_${'A'.repeat(33)}`,
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx=',
  '2026-01-02',
  '2026-01-02 03:04:05Z',
  '2031-02-30T03:04:05Z',
  '9999-12-31T23:59:59-23:59',
  '0000-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00+23:59',
  '2999-12-31T23:59:59.999999999-23:59',
  '3000-01-01T00:00:00Z',
  `${'a'.repeat(245)}@x.example`,
  `${'a'.repeat(244)}@x.example`,
  'ftp://shop.example/',
  'https://',
  'a@b@c',
  '@',
  'a b@c.example',
  '<script>',
  '../../etc/passwd',
  "'; DROP TABLE deliveries; --",
  '\u202e',
  '\ud83d\ude00',
  'toString',
  '__proto__',
];

// All places in a value, as functions that give a copy with something else there.
function places(value, rebuild = (other) => other) {
  const found = [rebuild];
  if (Array.isArray(value)) {
    value.forEach((one, at) => found.push(...places(one, (other) => rebuild(value.with(at, other)))));
  } else if (value !== null && typeof value === 'object') {
    for (const [name, one] of Object.entries(value))
      found.push(...places(one, (other) => rebuild({ ...value, [name]: other })));
  }
  return found;
}
function objects(value, rebuild = (other) => other) {
  const found = [];
  if (Array.isArray(value))
    value.forEach((one, at) => found.push(...objects(one, (other) => rebuild(value.with(at, other)))));
  else if (value !== null && typeof value === 'object') {
    found.push([value, rebuild]);
    for (const [name, one] of Object.entries(value))
      found.push(...objects(one, (other) => rebuild({ ...value, [name]: other })));
  }
  return found;
}

// Such a value with one thing changed: something odd in one place, a member more or one less.
export function alterations(document, schema) {
  const more = ['nmae', 'secrets', 'x', 'Id', 'überall', 'a'.repeat(100)];
  return fc
    .tuple(
      values(document, schema),
      fc.nat(),
      fc.constantFrom('odd', 'odd', 'odd', 'more', 'less'),
      fc.constantFrom(...ODD),
    )
    .map(([value, dice, how, odd]) => {
      const inside = objects(value);
      if (how === 'odd' || inside.length === 0) {
        const all = places(value);
        return all[dice % all.length](odd);
      }
      const [object, rebuild] = inside[dice % inside.length];
      if (how === 'more') return rebuild({ ...object, [more[dice % more.length]]: odd });
      const present = Object.keys(object);
      if (present.length === 0) return rebuild({ ...object, zzz: odd });
      const { [present[dice % present.length]]: gone, ...rest } = object;
      return rebuild(rest);
    });
}

// The members at the top of what a schema describes.
export function memberNames(document, given) {
  const { properties = {}, allOf = [] } = resolve(document, given) ?? {};
  return [...Object.keys(properties), ...allOf.flatMap((one) => memberNames(document, one))];
}

// As a text in a query, and back as a schema sees it.
export const oddTexts = [
  '',
  ' ',
  '0',
  '-1',
  '101',
  '1.5',
  '99999999999999999999',
  'true',
  'TRUE',
  'x',
  '\u0001',
  'x'.repeat(300),
  '漢'.repeat(256),
  'cur_',
  'cur_0a1b2c3d4e5f6',
  'cur_0A1B2C3D4E5F6',
  'cur_zzzzzzzzzzzzz',
  'int_0a1b2c3d4e5f6',
  'int_0',
  "' OR 1=1",
  'null',
  '[]',
  '%00',
  'a&b=c',
  'deliver',
  '\u00a0',
  '@',
  ' @\u00a0',
  '@@',
  '\u200b',
  '#',
  '@x',
  '2026-01-02T03:04:05+05:30',
  '9999-12-31T23:59:59-23:59',
  '0000-01-01T00:00:00Z',
];
export function fromText(text, schema) {
  const types = typesOf(schema);
  if (types.includes('integer') && /^-?\d+$/.test(text)) return Number(text);
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

// Members of `value` that the schema does not name anywhere, as paths. Objects of which it names no member may hold any.
export function undeclared(document, given, value, path = '') {
  const schemas = [];
  const gather = (one) => {
    const schema = resolve(document, one);
    schemas.push(schema);
    for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) gather(part);
  };
  gather(given);
  if (Array.isArray(value)) {
    const items = schemas.find((one) => one.items)?.items;
    return items ? value.flatMap((one, at) => undeclared(document, items, one, `${path}[${at}]`)) : [];
  }
  if (value === null || typeof value !== 'object') return [];
  const named = schemas.filter((one) => one.properties);
  if (named.length === 0) return [];
  return Object.entries(value).flatMap(([name, one]) => {
    const holder = named.find((schema) => own(schema.properties, name));
    return holder ? undeclared(document, holder.properties[name], one, `${path}.${name}`) : [`${path}.${name}`];
  });
}
