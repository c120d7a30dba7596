import { cleanup, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { DeliveryPage } from './delivery/Delivery';
import { KeyPage } from './key/Key';
import { OrderPage } from './order/Order';
import { PresetPage } from './preset/Preset';
import { StorePage } from './store/Store';
import { WebhookPage } from './webhook/Webhook';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({}), useParams: () => ({ id: 'one' }), useLoaderData: () => undefined }),
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const PAGES: Record<string, ComponentType> = { DeliveryPage, KeyPage, OrderPage, PresetPage, StorePage, WebhookPage };

test.each(Object.keys(PAGES))('%s has a heading while it is read', async (name) => {
  serve(() => new Promise<Response>(() => {}));
  const Page = PAGES[name]!;
  await show(<Page />);
  expect((await screen.findByRole('heading', { level: 1 })).textContent).not.toBe('');
});
