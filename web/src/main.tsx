import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import 'virtual:mantine-variables.css';
import './theme/mantine.css';
import './theme/tokens.css';
import { queryClient } from './api/queries';
import { router } from './router';
import { session } from './session';
import { keepFocus } from './shell/focus';
import { colorSchemes, theme } from './theme/theme';

// Nothing of one account is shown to another: the cache is emptied before a page is drawn for the next.
let account: string | null = null;
session.subscribe(() => {
  const state = session.get();
  const next = state.name === 'in' || state.name === 'ended' ? state.tokens.accountId : null;
  if (account !== null && account !== next) queryClient.clear();
  account = next;
});

// Asked before anything is drawn; the gate waits for it.
session.restore().catch(() => session.forget());

keepFocus();

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemes}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
