import { render } from '@testing-library/react';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { account } from './en/account';
import { bulk } from './en/bulk';
import { credits } from './en/credits';
import { customers } from './en/customers';
import { delivery } from './en/delivery';
import { orders } from './en/orders';
import { palette } from './en/palette';
import { people } from './en/people';
import { presets } from './en/presets';
import { guide } from './en/guide';
import { home } from './en/home';
import { profile } from './en/profile';
import { step_up } from './en/step_up';
import { more_matches } from './en/more_matches';
import { require_token } from './en/require_token';
import { own_order } from './en/own_order';
import { store_kinds } from './en/store_kinds';
import { stores } from './en/stores';
import { usage } from './en/usage';
import { webhooks } from './en/webhooks';
import { nameCloud } from './names';
import { t, T } from './text';

test('values, numbers and plurals', () => {
  expect(t('count.presets', { count: 1 })).toBe('1 preset');
  expect(t('count.presets', { count: 1204 })).toBe('1,204 presets');
  expect(t('app.title', { page: 'a {page} of $& <b>' })).toBe('a {page} of $& <b> · Preset Delivery Bridge');
});

test('a sentence takes elements, and what they hold is text', () => {
  const { container } = render(<T k="delivery.for" values={{ presets: '<img src=x>', buyer: <b>x</b> }} />);
  expect(container.innerHTML).toBe('&lt;img src=x&gt; for <b>x</b>');
});

test('the cloud platform has its configured name in every text', () => {
  expect(t('cloud.email')).toBe('E-mail at the cloud platform');
  expect(t('overview.paused.outage')).toBe('The cloud platform is away.');
  nameCloud('ToneHub');
  try {
    expect(t('cloud.email')).toBe('E-mail at ToneHub');
    expect(t('overview.paused.outage')).toBe('ToneHub is away.');
    const { container } = render(<T k="fix.username_not_found.text" values={{ name: <b>x</b> }} />);
    expect(container.textContent).toMatch(/^ToneHub has no user named x\./);
    const texts = Object.values(PARTS).flatMap((part) => Object.values(part).map((text) => JSON.stringify(text)));
    expect(texts.filter((text) => /the cloud platform/i.test(text))).toEqual([]);
  } finally {
    nameCloud('the cloud platform');
  }
});

// A part that a page does not import is not there when the page is the first that is opened.
const PARTS = {
  account,
  bulk,
  credits,
  customers,
  delivery,
  guide,
  home,
  orders,
  palette,
  people,
  presets,
  profile,
  step_up,
  more_matches,
  require_token,
  own_order,
  store_kinds,
  stores,
  usage,
  webhooks,
};
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !/^(i18n|vocabulary|api)\/|\.test\./.test(name),
);

test.each(Object.entries(PARTS))('whoever speaks of “%s” imports it', (part, texts) => {
  const groups = new Set(Object.keys(texts).map((key) => key.split('.')[0]));
  const without = files.filter((name) => {
    const source = readFileSync(`src/${name}`, 'utf8');
    const speaks = [
      ...source.matchAll(
        /\b(?:t|hasText)\(\s*['`](\w+)\.|\bk=\{?['"`](\w+)\.|\bword\(\s*'(\w+)|\?\s*'(\w+)\.|:\s*'(\w+)\./g,
      ),
    ].some((found) => groups.has(found.slice(1).find(Boolean) ?? ''));
    return speaks && !source.includes(`'@/i18n/en/${part}'`);
  });
  expect(files.length).toBeGreaterThan(50);
  expect(without).toEqual([]);
});
