// Every page has its pictures: the pages of `./dev screenshots` (tools/pages.mjs) against the routes, and the buyer's states.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { router } from './router';

type Page = { name: string; path: string | ((made: unknown) => string); states?: boolean; presses?: string[] };
const file = '../tools/pages.mjs';
const { pages }: { pages: Page[] } = await import(/* @vite-ignore */ file);

// Stands for the objects of the demonstration: any name leads to an id.
const made: unknown = new Proxy(() => 'id', {
  get: (it, name) => (name === Symbol.toPrimitive ? () => 'id' : name === 'toString' ? () => 'id' : Reflect.apply(() => made, it, [])),
}); // prettier-ignore

const routeOf = ({ path }: Page) => {
  const address = typeof path === 'string' ? path : path(made);
  const { pathname } = new URL(address, 'http://here.example');
  return router.getMatchedRoutes(pathname)[2]?.fullPath.replace(/(?<=.)\/$/, '');
};
const pictured = new Set(pages.map(routeOf));
const inEachState = new Set(pages.filter(({ states }) => states).map(routeOf));

// Pages alone: no redirects, and no routes that hold others.
const routes = Object.values(router.routesById)
  .filter(({ options, children }) => 'path' in options && !options.beforeLoad && !children)
  .map(({ fullPath }) => fullPath.replace(/(?<=.)\/$/, ''));

test.each(routes)('%s is pictured', (route) => {
  expect(pictured).toContain(route);
});

// Signed out, or with nothing to read.
const WITHOUT = [
  '/sign-in',
  '/sign-up',
  '/invite',
  '/reset',
  '/verify',
  '/confirmed',
  '/signed-in',
  '/integrations/stores/new',
];
test.each(routes.filter((route) => !WITHOUT.includes(route)))('%s is pictured in every state', (route) => {
  expect(inEachState).toContain(route);
});

test('so is each state of the buyer’s page', () => {
  const { schemas } = JSON.parse(readFileSync('../api/openapi.json', 'utf8')).components;
  const states: string[] = schemas.BuyerState.enum;
  const names = new Set(pages.map(({ name }) => name));
  expect(states.filter((state) => !names.has(`buyer-${state.replaceAll('_', '-')}`))).toEqual([]);
});
