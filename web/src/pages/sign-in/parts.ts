import { useState } from 'react';
import { t } from '@/i18n/text';

// The page after signing in: always one of this dashboard, whatever the address says.
export function placeAfter(to: string | undefined): string {
  if (!to) return '/';
  try {
    const { origin, pathname, search, hash } = new URL(to, window.location.origin);
    return origin === window.location.origin && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/';
  } catch {
    return '/';
  }
}

// The button in a password field says what it does.
export function usePasswordToggle() {
  const [visible, setVisible] = useState(false);
  return {
    visible,
    onVisibilityChange: setVisible,
    visibilityToggleButtonProps: {
      'aria-label': t(visible ? 'signIn.hidePassword' : 'signIn.showPassword'),
      'aria-hidden': false,
      tabIndex: 0,
    },
  } as const;
}
