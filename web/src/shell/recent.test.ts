import { expect, test } from 'vitest';
import { recentOf, remember } from './recent';

const at = (path: string) => ({ path, title: `Title of ${path}` });

test('the newest stand first, each once, five at most', () => {
  for (const path of ['/a', '/b', '/c', '/a', '/d', '/e', '/f']) remember('usr_1', at(path));
  expect(recentOf('usr_1').map(({ path }) => path)).toEqual(['/f', '/e', '/d', '/a', '/c']);
});

test('nobody sees what another person looked at', () => {
  remember('usr_1', at('/a'));
  expect(recentOf('usr_2')).toEqual([]);
  remember('usr_2', at('/z'));
  expect(recentOf('usr_2')).toEqual([at('/z')]);
  expect(recentOf('usr_1')).toEqual([]);
});
