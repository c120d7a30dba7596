// A strict reader of Prometheus' text format 0.0.4, which refuses what `promtool check metrics` complains of: the form,
// and the conventions of names (https://prometheus.io/docs/practices/naming).
import assert from 'node:assert/strict';

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/;
const TYPES = ['counter', 'gauge', 'histogram'];
const OTHER_UNITS =
  /_(?:milliseconds|microseconds|nanoseconds|minutes|hours|days|kilobytes|megabytes|percent|bits)(?:_|$)/;

function labelsOf(text) {
  const labels = {};
  for (let rest = text; rest;) {
    const found = LABEL.exec(rest);
    assert.ok(found, `labels: ${text}`);
    assert.ok(!(found[1] in labels), `the label ${found[1]} twice: ${text}`);
    labels[found[1]] = found[2];
    rest = rest.slice(found[0].length);
  }
  return labels;
}

function lint(name, { type, help }) {
  assert.match(name, NAME);
  assert.ok(help, `${name} has no help`);
  assert.ok(TYPES.includes(type), `${name} is of the type ${type}`);
  assert.equal(type === 'counter', name.endsWith('_total'), `${name}: counters, and they alone, end in _total`);
  assert.doesNotMatch(name, /_(?:count|sum|bucket)$/, `${name} ends as a part of a histogram does`);
  assert.doesNotMatch(name, /[A-Z]|:/, `${name} is not in snake_case`);
  assert.doesNotMatch(name, OTHER_UNITS, `${name} is not in a base unit`);
  assert.doesNotMatch(name, new RegExp(`_(?:${TYPES.join('|')})(?:_|$)`), `${name} names its type`);
}

function checkHistogram(name, samples) {
  const series = new Map();
  for (const { part, labels, value } of samples) {
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    const one = series.get(key) ?? series.set(key, { buckets: [] }).get(key);
    if (part === 'bucket') one.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
    else one[part] = value;
  }
  for (const [key, { buckets, count, sum }] of series) {
    assert.ok(sum !== undefined && count !== undefined, `${name}${key}: without sum or count`);
    assert.equal(buckets.at(-1)?.[0], Infinity, `${name}${key}: the last bucket is not +Inf`);
    assert.equal(buckets.at(-1)[1], count, `${name}${key}`);
    for (let i = 1; i < buckets.length; ++i) {
      assert.ok(
        buckets[i][0] > buckets[i - 1][0] && buckets[i][1] >= buckets[i - 1][1],
        `${name}${key}: buckets are not cumulative`,
      );
    }
  }
}

// The families of the text: name → {type, help, samples: [{part, labels, value}]}; `part` is what stands behind the name of a
// histogram. Throws where something is wrong.
export function readExposition(text) {
  assert.ok(text.endsWith('\n'), 'the last line has no end');
  const families = new Map();
  const seen = new Set();
  let current;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!families.has(name), `${name} comes twice`);
      current = { name, help: rest, samples: [] };
      families.set(name, current);
    } else if (kind === 'TYPE') {
      assert.ok(name === current?.name && !current.type && current.samples.length === 0, `out of place: ${line}`);
      current.type = rest;
    } else {
      const [, full, labels = '', number] = SAMPLE.exec(line) ?? assert.fail(`not a line of the format: ${line}`);
      assert.ok(current && full.startsWith(current.name), `a sample outside its family: ${line}`);
      const part = full.slice(current.name.length).replace(/^_/, '');
      assert.ok(
        current.type === 'histogram' ? ['bucket', 'sum', 'count'].includes(part) : part === '',
        `a sample outside its family: ${line}`,
      );
      assert.match(number, NUMBER, line);
      const key = `${full}{${Object.entries(labelsOf(labels)).sort().join()}}`;
      assert.ok(!seen.has(key), `twice: ${key}`);
      seen.add(key);
      current.samples.push({ part, labels: labelsOf(labels), value: Number(number.replace('Inf', 'Infinity')) });
    }
  }
  for (const [name, family] of families) {
    lint(name, family);
    assert.ok(family.samples.length > 0, `${name} has no sample`);
    if (family.type === 'histogram') checkHistogram(name, family.samples);
  }
  return families;
}

// The value of the one sample with these labels among others.
export function valueOf(families, name, labels = {}) {
  const found =
    families
      .get(name)
      ?.samples.filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value)) ?? [];
  assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)}: ${JSON.stringify(found)}`);
  return found[0].value;
}
