import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Nav } from './Nav';

afterEach(cleanup);

test('the page of stores and webhooks together is the heading above both', async () => {
  await show(<Nav onHelp={() => undefined} onSearch={() => undefined} />);
  const link = await screen.findByRole('link', { name: 'Integrations' });
  expect([link.getAttribute('href'), link.parentElement?.tagName]).toEqual(['/integrations', 'H2']);
});
