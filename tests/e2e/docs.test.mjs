// The options, settings and metrics that docs/ name are those of the programs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const helpOf = (binary, ...verb) => execFileSync(binary, [...verb, '--help'], { encoding: 'utf8' });
const flagsOf = (help) => new Set(help.match(/(?<=^ +(?:-\w,)?)--[a-z][a-z-]*/gm));
const operations = read('docs/operations.md');
const rowsOf = (heading) => [
  ...operations
    .split(heading)[1]
    .split('\n\n')
    .find((part) => part.trim().startsWith('|'))
    .matchAll(/^\| `([^`]+)`.*\|$/gm),
];
const bridge = process.env.PRESETBRIDGE_BIN;

test('the table of settings is the settings, with their help', () => {
  const help = helpOf(bridge, 'serve');
  const documented = rowsOf('unknown key is an error').map(([row, key]) => ({
    row,
    flag: `--${key.replace(/[._]/g, '-')}`,
  }));
  assert.deepEqual(
    new Set(documented.map(({ flag }) => flag)),
    new Set(
      [...flagsOf(help)].filter(
        (flag) => !['--help', '--version', '--config', '--replace-lost-database'].includes(flag),
      ),
    ),
  );
  const words = help.replace(/\s+/g, ' ');
  for (const { row } of documented) {
    const meaning = row.split('|').at(-2).trim().replace(/`/g, '');
    assert.ok(words.includes(meaning), `help does not say: ${meaning}`);
  }
});

test('every option of a verb is documented', () => {
  const settings = flagsOf(helpOf(bridge, 'serve'));
  const verbs = [
    ['demo'],
    ['listen'],
    ['send-order'],
    ['copy'],
    ['migrate'],
    ['config', 'check'],
    ['doctor'],
    ['vault', 'init'],
    ['database', 'grant'],
    ...[...operations.matchAll(/^\| `admin (\S+)/gm)].map(([, verb]) => ['admin', verb]),
  ];
  const known = helpOf(bridge, 'admin')
    .split('Subcommands:')[1]
    .match(/(?<=^ +)[a-z-]+/gm);
  assert.deepEqual(
    verbs
      .filter(([first]) => first === 'admin')
      .map(([, verb]) => verb)
      .sort(),
    known.sort(),
  );
  for (const verb of verbs) {
    for (const flag of flagsOf(helpOf(bridge, ...verb))) {
      if (!settings.has(flag))
        assert.ok(
          new RegExp(`${flag}(?![a-z-])`).test(operations),
          `${verb.join(' ')} ${flag} is not in docs/operations.md`,
        );
    }
  }
  for (const [name, page] of [
    ['cloudsim', 'docs/cloud-platform.md'],
    ['paysim', 'docs/payment-simulator.md'],
  ]) {
    for (const flag of flagsOf(helpOf(process.env[`${name.toUpperCase()}_BIN`]))) {
      if (!['--help', '--version'].includes(flag))
        assert.ok(new RegExp(`${flag}(?![a-z-])`).test(read(page)), `${name} ${flag} is not in ${page}`);
    }
  }
});

test('every metric that is counted has a help text and a line in the docs', () => {
  const names = (text) => new Set(text.match(/\bpresetbridge_[a-z_]+\b/g));
  const sources = execFileSync(
    'grep',
    [
      '-rhoE',
      '--include=*.cpp',
      '--exclude=*_test.cpp',
      '--exclude=metric_families.cpp',
      '"presetbridge_[a-z_]+"',
      new URL('../../src', import.meta.url).pathname,
    ],
    { encoding: 'utf8' },
  );
  const counted = names(sources).add('presetbridge_build_info');
  const helped = names(read('src/app/metrics/metric_families.cpp').split('kHelp')[1].split('});')[0]);
  assert.deepEqual([...helped].sort(), [...counted].sort());
  assert.deepEqual([...names(operations.split('| metric |')[1].split('\n\n')[0])].sort(), [...counted].sort());
});
