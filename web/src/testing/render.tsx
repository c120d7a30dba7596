// A component in the surroundings of a page, for tests: theme, queries, and a router whose every address is there.
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider, type QueryKey } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { theme } from '@/theme/theme';

// `role`: of the person who is signed in. `client`: takes the data of pages, which read nothing by themselves.
// `at`: the address of the page.
export async function show(
  children: ReactNode,
  { role = 'owner', at = '/' }: { role?: 'owner' | 'member'; at?: string } = {},
) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, enabled: false } } });
  client.setQueryData(['account'], { name: 'Marlow Tone Co.', caller: { role } });
  const root = createRootRoute({ component: () => children });
  const router = createRouter({
    routeTree: root,
    history: createMemoryHistory({ initialEntries: [at] }),
    defaultNotFoundComponent: () => children,
  });
  await router.load();
  const shown = render(
    <MantineProvider theme={theme} env="test" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { client, ...shown };
}

// A read of the page has failed, and there is no older answer to it.
export const fails = (client: QueryClient, queryKey: QueryKey, error: Error) =>
  act(() =>
    client
      .getQueryCache()
      .find({ queryKey })
      ?.setState({ status: 'error', error, data: undefined, fetchStatus: 'idle' }),
  );
