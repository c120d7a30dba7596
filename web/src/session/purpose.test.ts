import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { purposeWords } from './purpose';

const HANDLERS = '../src/api/handlers';
const routes = readdirSync(HANDLERS)
  .filter((name) => name.endsWith('_handlers.cpp'))
  .flatMap((name) => [
    ...readFileSync(`${HANDLERS}/${name}`, 'utf8').matchAll(/router\.add\("(\w+)", "([^"]+)", \w+\.after_step_up\(\)/g),
  ])
  .map(([, method = '', path = '']) => `${method} ${path.replace(/\{\w+\}/g, 'key_0a1b2c3d4e5f6')}`);

test('every request that needs a recent sign-in is named to the person', () => {
  expect(routes.length).toBeGreaterThan(10);
  expect(routes.filter((route) => purposeWords(route, false) === 'Type your password to go on.')).toEqual([]);
  expect(purposeWords('POST /api/keys', false)).toBe('Type your password to create a token.');
  expect(purposeWords('POST /api/keys/key_0a1b2c3d4e5f6/rotate', false)).toBe('Type your password to rotate a token.');
  expect(purposeWords('POST /api/keys', true)).toBe('Sign in once more to create a token.');
  expect(purposeWords('POST /api/something/newer', false)).toBe('Type your password to go on.');
});
