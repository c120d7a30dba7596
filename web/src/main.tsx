import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import 'virtual:mantine-variables.css';
import './theme/mantine.css';
import './theme/tokens.css';
import { queryClient } from './api/queries';
import { clearToasts } from './components/toasts';
import { router } from './router';
import { onPersonGone, session } from './session';
import { keepFocus } from './shell/focus';
import { colorSchemes, theme } from './theme/theme';

// Nothing of one person is shown to another: it is forgotten before a page is drawn for the next.
onPersonGone(() => {
  queryClient.clear();
  clearToasts();
});

// Asked before anything is drawn; the gate waits for it, and says so where the service does not answer.
session.restore().catch(() => undefined);

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
