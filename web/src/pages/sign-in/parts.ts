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
