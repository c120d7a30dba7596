import { readFileSync } from 'node:fs';
import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { CopyField } from './Copy';

afterEach(cleanup);

test('a value to take elsewhere is whole on the screen: it wraps, and hides no part of itself', async () => {
  const styles = readFileSync(`${import.meta.dirname}/Copy.module.css`, 'utf8');
  document.head.insertAdjacentHTML('beforeend', `<style>${styles}</style>`);
  const address = 'https://bridge.example/api/webhooks/provider-a/int_0ap2c82j80000';
  await show(<CopyField label="Webhook URL" value={address} />);
  const group = screen.getByRole('group', { name: 'Webhook URL' });
  group.className = 'field'; // the name in the style sheet
  const { overflowX, overflowWrap, whiteSpace, textOverflow } = getComputedStyle(screen.getByText(address));
  expect([overflowWrap, overflowX || 'visible', whiteSpace || 'normal', textOverflow || 'clip']).toEqual([
    'anywhere',
    'visible',
    'normal',
    'clip',
  ]);
});
